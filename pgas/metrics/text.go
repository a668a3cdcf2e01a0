package metrics

// The text format of Prometheus, version 0.0.4: all samples of a metric stand together, under its help and type.

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
)

// contentType is that of the text format. Prometheus 3 asks for the version.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

var (
	escapeHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	escapeValue = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// WriteText writes the samples of now as Prometheus reads them. A metric without a sample is left out.
func (m Metrics) WriteText(to io.Writer) error {
	byMetric := map[*Description][]Sample{}
	for s := range m.Samples() {
		byMetric[s.Description] = append(byMetric[s.Description], s)
	}
	w := bufio.NewWriter(to)
	for _, d := range all {
		if samples := byMetric[d]; len(samples) > 0 {
			d.writeText(w, samples)
		}
	}
	return w.Flush() // the first error of all
}

func (d *Description) writeText(w *bufio.Writer, samples []Sample) {
	kind := "gauge"
	if d.Counter {
		kind = "counter"
	}
	var lines []string
	w.WriteString("# HELP " + d.Name + " " + escapeHelp.Replace(d.Help) + "\n# TYPE " + d.Name + " " + kind + "\n")
	for i := range samples {
		lines = append(lines, samples[i].line())
	}
	slices.Sort(lines)
	for _, line := range lines {
		w.WriteString(line)
	}
}

// line returns a sample as a line. Labels stand in the order of their names, as the client of Prometheus writes them.
func (s *Sample) line() string {
	var labels []string
	for i, name := range s.Labels {
		labels = append(labels, name+`="`+escapeValue.Replace(s.Values[i])+`"`)
	}
	slices.Sort(labels)
	return s.Name + "{" + strings.Join(labels, ",") + "} " + strconv.FormatFloat(s.Value, 'g', -1, 64) + "\n"
}
