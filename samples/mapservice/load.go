package main

// The clients of -verify. Those of a PE put its share of the keys at the PE's own server, and get what they have put.

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// clients is how many each PE has. Each waits for its answers.
const clients = 16

// keyOf and valueOf return what is put in i-th place. Some keys and values are short, and others long.
func keyOf(i int) string   { return fmt.Sprintf("verify/%0*d", 1+i%40, i) }
func valueOf(i int) string { return strings.Repeat(fmt.Sprint("value ", i, "\n"), 1+i%20) }

// begin starts the clients of this PE, for what its share of n keys lacks.
func (s *service) begin(ctx context.Context, url string, n int) {
	todo := make(chan int, n)
	lo, hi := s.w.Team().Share(n)
	for i := lo; i < hi; i++ {
		if v, ok := s.texts.Find(keyOf(i)); !ok || v != valueOf(i) {
			todo <- i
		}
	}
	close(todo)
	s.load = make(chan error, clients)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for i := range todo {
				if err := putAndGet(ctx, client, url+"/"+keyOf(i), valueOf(i)); err != nil {
					s.load <- err
					return
				}
			}
		})
	}
	go func() {
		all.Wait()
		client.CloseIdleConnections()
		close(s.load)
	}()
}

// putAndGet puts a value, and gets it.
func putAndGet(ctx context.Context, c *http.Client, url, value string) error {
	if _, err := ask(ctx, c, http.MethodPut, url, value); err != nil {
		return err
	}
	got, err := ask(ctx, c, http.MethodGet, url, "")
	if err == nil && got != value {
		err = fmt.Errorf("GET %s: %q, and %q was put", url, got, value)
	}
	return err
}

// ask sends a request and returns the body of the answer.
func ask(ctx context.Context, c *http.Client, method, url, body string) (string, error) {
	q, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r, err := c.Do(q)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, url, r.Status, text)
	}
	return string(text), err
}

// compare looks in the map for what the clients of the next PE have put, of n keys.
func (s *service) compare(n int) error {
	lo, hi := s.w.Team().ShareOf((s.w.PE()+1)%s.w.NPEs(), n)
	for i := lo; i < hi; i++ {
		if v, ok := s.texts.Find(keyOf(i)); !ok || v != valueOf(i) {
			return fmt.Errorf("key %s has %q, and %q was put", keyOf(i), v, valueOf(i))
		}
	}
	return nil
}
