package join

// Lists of hosts as people and schedulers write them: -hosts, host files, PGAS_HOSTS. An entry names a host and its
// PEs:
//
//	n1  n1:2  me@n1:2                    1 PE, or as many as the number says
//	192.0.2.1:2  [fd00::1]:2  fd00::1:2  addresses; the last colon without brackets comes before the number of PEs
//	n1 2  n1 slots=2 max_slots=4         blanks before the number; Open MPI's words
//	n[1-3,7]:2                           Slurm's ranges: so many PEs on each
//	n1 2 all.q@n1 UNDEFINED              a line of Grid Engine
//	+n1:2                                a spare, which runs no PEs (-hosts and its files alone)
//
// Schedulers that write a line for each PE, as PBS and Slurm do, write a host several times: its entries add up.

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
)

// ParseHosts reads a list of entries that commas separate. The hosts are in the order of their first entries. The error
// is about an entry.
func ParseHosts(list string) ([]boot.Host, error) { return parseList(list, ParseHost) }

// ParseHostsAndSpares reads the same, in which a + begins an entry of spares.
func ParseHostsAndSpares(list string) (hosts, spares []boot.Host, err error) {
	hosts, err = parseList(list, apart(&spares))
	return hosts, spares, err
}

// ParseHostFile reads an entry a line. A # begins a comment. The error begins with path, and with the line if one is
// wrong.
func ParseHostFile(path string, content []byte) ([]boot.Host, error) {
	return parseFile(path, content, ParseHost)
}

// ParseHostFileAndSpares reads the same, in which a + begins an entry of spares.
func ParseHostFileAndSpares(path string, content []byte) (hosts, spares []boot.Host, err error) {
	hosts, err = parseFile(path, content, apart(&spares))
	return hosts, spares, err
}

// apart returns a function that reads an entry, and adds its hosts to spares if it begins with a +.
func apart(spares *[]boot.Host) func(entry string) ([]boot.Host, error) {
	return func(entry string) ([]boot.Host, error) {
		rest, isSpare := strings.CutPrefix(strings.TrimSpace(entry), "+")
		some, err := ParseHost(rest)
		if isSpare && err == nil {
			*spares = append(*spares, some...)
			return nil, nil
		}
		return some, err
	}
}

func parseList(list string, parse func(entry string) ([]boot.Host, error)) ([]boot.Host, error) {
	var hosts []boot.Host
	for _, entry := range splitOutsideBrackets(list + ",") {
		some, err := parse(entry)
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, some...)
	}
	return hosts, nil
}

func parseFile(path string, content []byte, parse func(entry string) ([]boot.Host, error)) ([]boot.Host, error) {
	var hosts []boot.Host
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		some, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		hosts = append(hosts, some...)
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("%s: it names no host: write one a line, as name:PEs", path)
	}
	return hosts, nil
}

// ParseHost reads one entry, which may stand for several hosts. The error says what is wrong with it, and what to
// write.
func ParseHost(entry string) ([]boot.Host, error) {
	fields := joinAssignments(strings.Fields(strings.ReplaceAll(entry, "=", " = ")))
	if len(fields) == 0 {
		return nil, errors.New("a host's name is empty")
	}
	names, count, err := splitHost(fields[0])
	if err != nil {
		return nil, err
	}
	said, err := readWords(names[0], count, fields[1:])
	if err != nil {
		return nil, err
	}
	pes := 1
	if said != "" {
		if pes, err = strconv.Atoi(said); err != nil || pes < 1 || pes > boot.MaxPEs {
			return nil, fmt.Errorf("%q is not a number of PEs for host %s: write %s", said, names[0], boot.Host{Name: names[0], PEs: 2}.Entry())
		}
	}
	hosts := make([]boot.Host, len(names))
	for i, name := range names {
		hosts[i] = boot.Host{Name: name, PEs: pes}
	}
	return hosts, nil
}

// joinAssignments makes one word of a name, a = and a value that follow each other.
func joinAssignments(words []string) []string {
	var joined []string
	for i, word := range words {
		if n := len(joined); n > 0 && (word == "=" || words[i-1] == "=") {
			joined[n-1] += word
			continue
		}
		joined = append(joined, word)
	}
	return joined
}

// readWords returns the number of PEs that an entry gives: count, which was behind the colon, or one of the words
// behind the host.
func readWords(host, count string, words []string) (string, error) {
	switch {
	case len(words) == 0:
		return count, nil
	case count == "" && isCount(words[0]) && (len(words) == 1 || len(words) == 3 && strings.Contains(words[1], "@")):
		return words[0], nil
	}
	most := ""
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case (name == "slots" || name == "cpu" || name == "count") && count == "" && value != "":
			count = value
		case (name == "max_slots" || name == "max-slots") && value != "":
			most = value
		default:
			return "", fmt.Errorf("%q behind host %s is not understood: write %s", word, host, boot.Host{Name: host, PEs: 2}.Entry())
		}
	}
	if most != "" && count == "" {
		return "", fmt.Errorf("host %s has %s slots at most, and no number of them: write %s", host, most, boot.Host{Name: host, PEs: 2}.Entry())
	}
	return count, nil
}

// isCount reports whether text is a number as people write it.
func isCount(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 0 && strconv.Itoa(n) == text
}

// splitHost returns the hosts that the first word of an entry names, and what is behind the colon, or "".
func splitHost(word string) (names []string, count string, err error) {
	user, host := "", word
	if at := strings.LastIndexByte(word, '@'); at >= 0 {
		user, host = word[:at+1], word[at+1:]
	}
	end := strings.IndexByte(host, ']')
	switch {
	case strings.HasPrefix(host, "[") && strings.Contains(host[:max(end, 0)], ":"):
		behind, given := strings.CutPrefix(host[end+1:], ":")
		if behind != "" && !given || given && behind == "" {
			return nil, "", fmt.Errorf("%q is not an address with a number of PEs: write %s", word, host[:end+1]+":2")
		}
		host, count = host[1:end], behind
	case strings.Count(host, ":") > 1:
		if host, count, err = splitAddress(host); err != nil {
			return nil, "", err
		}
	default:
		var given bool
		if host, count, given = strings.Cut(host, ":"); given && count == "" {
			return nil, "", fmt.Errorf("%q is not a number of PEs for host %s: write %s:2", count, host, host)
		}
	}
	if strings.ContainsRune(host, '[') && !strings.ContainsRune(host, ':') {
		names, err = ExpandNodes(host)
		if err != nil {
			return nil, "", fmt.Errorf("%q: %w", word, err)
		}
	} else {
		names = []string{host}
	}
	for i := range names {
		names[i] = user + canonical(names[i])
		if err := CheckHostName(names[i]); err != nil {
			return nil, "", err
		}
	}
	return names, count, nil
}

// splitAddress returns the address of IPv6 in text, which has no brackets, and the number of PEs behind it, or "". What
// is behind the last colon is a number of PEs wherever the rest is an address. The error asks for brackets where that
// cannot be what is meant.
func splitAddress(text string) (address, count string, err error) {
	last := strings.LastIndexByte(text, ':')
	head, tail := text[:last], text[last+1:]
	switch whole := isIPv6(text); {
	case isIPv6(head) && isCount(tail):
		return head, tail, nil
	case isIPv6(head) && (!whole || !strings.Contains(tail, ".")):
		return "", "", fmt.Errorf("%q may be an address, or one with a number of PEs: write [%s], or [%s]:2", text, text, head)
	case whole:
		return text, "", nil
	}
	return "", "", fmt.Errorf("%q is not an address of IPv6: write [fd00::1]:2", text)
}

// isIPv6 reports whether text is an address of IPv6, perhaps of an interface, as fe80::1%eth0.
func isIPv6(text string) bool {
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Is6() {
		return false
	}
	return !strings.ContainsFunc(a.Zone(), func(r rune) bool { return !isNameRune(r) && !strings.ContainsRune("._-", r) })
}

// canonical returns an address in its usual form, so that two that are equal have one name, and any other name as it
// is.
func canonical(name string) string {
	if a, err := netip.ParseAddr(name); err == nil {
		return a.String()
	}
	return name
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// CheckHostName returns an error for what can be neither a host's name nor its address. The name goes into a command
// line.
func CheckHostName(name string) error {
	if name == "" {
		return errors.New("a host's name is empty")
	}
	host := name[strings.LastIndexByte(name, '@')+1:]
	if user := name[:len(name)-len(host)]; isIPv6(host) && (user == "" || CheckHostName(user[:len(user)-1]) == nil) {
		return nil
	}
	for i, r := range name {
		if !isNameRune(r) && (i == 0 || !strings.ContainsRune("._-@", r)) {
			return fmt.Errorf("%q is not a host's name: it may have letters, digits and . _ - @ after the first", name)
		}
	}
	return nil
}

// MergeHosts adds up the PEs of entries with one name, and fills in the number of each host's first PE. It also returns
// the first name that comes again with others between, or "": the PEs of such a host have consecutive numbers all the
// same.
func MergeHosts(entries []boot.Host) (hosts []boot.Host, apart string) {
	at := map[string]int{}
	for i, h := range entries {
		known, again := at[h.Name]
		if !again {
			at[h.Name] = len(hosts)
			hosts = append(hosts, h)
			continue
		}
		hosts[known].PEs += h.PEs
		if entries[i-1].Name != h.Name && apart == "" {
			apart = h.Name
		}
	}
	first := 0
	for i := range hosts {
		hosts[i].First = first
		first += hosts[i].PEs
	}
	return hosts, apart
}

// ThisHost returns a function that reports whether a name stands for this host: localhost, the host's own name, with or
// without its domain, and the addresses of its interfaces. A name with a user does not.
func ThisHost() func(name string) bool {
	own, _ := os.Hostname()
	addrs, _ := net.InterfaceAddrs()
	return func(name string) bool {
		if a, err := netip.ParseAddr(name); err == nil {
			return a.IsLoopback() || hasAddress(addrs, a)
		}
		short, _, whole := strings.Cut(own, ".")
		other, _, otherWhole := strings.Cut(name, ".")
		return name == "localhost" || own != "" && (strings.EqualFold(name, own) || (!whole || !otherWhole) && strings.EqualFold(short, other))
	}
}

// hasAddress reports whether a is one of an interface's addresses; the name of the interface does not count.
func hasAddress(addrs []net.Addr, a netip.Addr) bool {
	ip := net.IP(a.WithZone("").AsSlice())
	return slices.ContainsFunc(addrs, func(own net.Addr) bool {
		n, ok := own.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}
