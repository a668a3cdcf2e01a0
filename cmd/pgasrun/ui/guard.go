package ui

// Readers of the page must know the token. A stranger gets one line.
//
// The token is in the path, so that every link of the page has it, and nothing has to be kept in the browser. A page of
// somebody else that a browser shows cannot ask for it by a name that it has made point to this host (DNS rebinding):
// the name in a request must be an address, localhost, or what -ui names.

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// newToken returns a token that nobody guesses.
func newToken() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// guard lets requests through that have the token, and strips it.
type guard struct {
	token string
	name  string // the name by which a request may call this host, besides localhost and addresses
	next  http.Handler
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	token, path, slash := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case !g.knows(r.Host):
		refuse(w, http.StatusForbidden, "This is the page of a pgasrun job, and not of the host that your browser has asked for: open the address that pgasrun has printed.")
	case subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) != 1:
		refuse(w, http.StatusForbidden, "This page needs the token of its job: open the whole address that pgasrun has printed.")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "This page can only be read: GET and HEAD are all that it answers.")
	case !slash:
		http.Redirect(w, r, "/"+g.token+"/", http.StatusMovedPermanently)
	default:
		r2 := r.Clone(r.Context())
		r2.URL.Path = "/" + path
		g.next.ServeHTTP(w, r2)
	}
}

// refuse answers with one line.
func refuse(w http.ResponseWriter, status int, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, line)
}

// knows reports whether a request may call this host so.
func (g *guard) knows(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return strings.EqualFold(name, "localhost") || g.name != "" && strings.EqualFold(name, g.name)
}
