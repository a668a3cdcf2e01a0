// Package collector registers the metrics of package metrics with a client of Prometheus, for a program that has
// metrics of its own with that client. It is a module of its own, so that no other program inherits the client:
//
//	go get github.com/gopgas/gopgas/pgas/metrics/collector
//
//	prometheus.MustRegister(collector.New(metrics.Of(w)))
package collector

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopgas/gopgas/pgas/metrics"
)

// New returns a collector of m. It may be registered before anything is counted, and collecting waits for nothing.
func New(m metrics.Metrics) prometheus.Collector {
	c := collector{metrics: m, descs: map[*metrics.Description]*prometheus.Desc{}}
	for _, d := range metrics.Descriptions() {
		c.descs[d] = prometheus.NewDesc(d.Name, d.Help, d.Labels, nil)
	}
	return c
}

type collector struct {
	metrics metrics.Metrics
	descs   map[*metrics.Description]*prometheus.Desc
}

// Describe is that of prometheus.Collector.
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

// Collect is that of prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	for s := range c.metrics.Samples() {
		kind := prometheus.GaugeValue
		if s.Counter {
			kind = prometheus.CounterValue
		}
		to <- prometheus.MustNewConstMetric(c.descs[s.Description], kind, s.Value, s.Values...)
	}
}
