package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// TestExplain: for which PEs others wait, and whether that can end.
func TestExplain(t *testing.T) {
	barrier := func(s *launch.Snapshot, pes ...int) {
		for _, pe := range pes {
			block(s, pe, boot.InBarrier, 7, 0, "main.go:40") // PE 0 counts arrivals
		}
	}
	cases := []struct {
		name  string
		make  func(s *launch.Snapshot)
		title string
		says  []string
		pes   []int
		hangs bool
	}{
		{"nobody waits", func(*launch.Snapshot) {}, "", nil, nil, false},
		{"a short wait", func(s *launch.Snapshot) {
			barrier(s, 0, 1, 2)
			for i := range 3 {
				s.PEs[i].Time = time.Second
			}
		}, "", nil, nil, false},
		{"one computes", func(s *launch.Snapshot) { barrier(s, 0, 1, 2) },
			"3 PEs wait for PE 3", []string{"PE 3 has computed for 20 s, without an access", "PE 0-2 wait for it: in barrier number 7, called at main.go:40, for 5.0 s"}, []int{3}, false},
		{"one goes on", func(s *launch.Snapshot) {
			barrier(s, 0, 1, 2)
			block(s, 3, boot.InGet, 0, 0, "")
			s.PEs[3].Time = time.Millisecond
		}, "3 PEs wait for PE 3", []string{"PE 3 goes on: now it is in get"}, []int{3}, false},
		{"one sleeps", func(s *launch.Snapshot) {
			barrier(s, 0, 1, 2)
			s.PEs[3].CPU = 0
		}, "3 PEs wait for PE 3", []string{"has used no CPU time for 20 s: it waits for something else"}, []int{3}, false},
		{"one has ended", func(s *launch.Snapshot) {
			barrier(s, 0, 1, 2)
			s.PEs[3].Ended, s.PEs[3].Status = true, 3
		}, "The job hangs: 3 PEs wait for PE 3", []string{"PE 3 has ended, with exit status 3"}, []int{3}, true},
		{"one leaves the job", func(s *launch.Snapshot) {
			barrier(s, 0, 1, 2)
			block(s, 3, boot.InClose, 0, -1, "")
		}, "The job hangs: PE 0,3 wait for each other", nil, []int{0, 3}, true},
		{"a word", func(s *launch.Snapshot) {
			barrier(s, 0, 1, 2)
			block(s, 3, boot.InWait, 0x40, -1, "main.go:33")
		}, "The job hangs: 3 PEs wait for PE 3", []string{"PE 3 is in wait on the word at 0x40 of its heap, called at main.go:33, for 5.0 s: another PE would have to change that word; all other PEs are blocked too"}, []int{3}, true},
		{"a cycle of locks", func(s *launch.Snapshot) {
			for i := range 3 {
				block(s, i, boot.InLock, uint64(i), (i+1)%3, "main.go:9")
			}
			block(s, 3, boot.InLock, 9, 1, "main.go:10")
		}, "The job hangs: PE 0-2 wait for each other in a cycle", []string{"PE 2 waits for PE 0: in lock at 0x2 of the heap", "1 more PE waits for them"}, []int{0, 1, 2}, true},
		{"a lock held in a barrier", func(s *launch.Snapshot) {
			barrier(s, 0, 1, 3)
			block(s, 2, boot.InLock, 5, 3, "main.go:12")
		}, "The job hangs", []string{"PE 2 waits for PE 3: in lock", "waits for PE 2: in barrier number 7"}, nil, true},
		{"a call of some", func(s *launch.Snapshot) {
			for i := range 2 {
				block(s, i, boot.InCollective, 3, 0, "team.go:1")
				s.PEs[i].Team = 2
			}
		}, "PE 0-1 are in collective number 3 of team 2", []string{"other members of that team have not called it"}, []int{0, 1}, false},
		{"those who have gone on", func(s *launch.Snapshot) {
			barrier(s, 0, 1)
			block(s, 2, boot.InCollective, 9, -1, "") // it has left call 7
		}, "3 PEs wait for PE 3", nil, []int{3}, false},
		{"a host that says nothing", func(s *launch.Snapshot) {
			barrier(s, 0, 1)
			for i := 2; i < 4; i++ {
				s.PEs[i] = launch.PEState{PE: i, Host: 1, For: -1}
			}
			s.Hosts[1].State = "lost"
		}, "2 PEs wait for PE 2-3", []string{"PE 2-3 run on host host1 (lost), which says nothing"}, []int{2, 3}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := made(4, 2, 20*time.Second)
			c.make(&s)
			e := explained(s)
			text := strings.Join(e.Points, "\n")
			if !strings.HasPrefix(e.Title, c.title) || (c.title == "") != (e.Title == "") || e.Hangs != c.hangs {
				t.Errorf("%q, hangs: %v", e.Title, e.Hangs)
			}
			for _, part := range c.says {
				if !strings.Contains(text, part) {
					t.Errorf("%q is missing in\n%s", part, text)
				}
			}
			if c.pes != nil && !slices.Equal(e.PEs, c.pes) {
				t.Errorf("the others wait for %v", e.PEs)
			}
		})
	}
}

// TestExplainMany: of many PEs, those that do the same are one sentence.
func TestExplainMany(t *testing.T) {
	s := made(1024, 8, 20*time.Second)
	for i := range 512 {
		block(&s, i, boot.InBarrier, 2, 0, "main.go:40")
	}
	e := explained(s)
	if e.Title != "512 PEs wait for PE 512-1023" || len(e.Points) != 2 || !strings.HasPrefix(e.Points[0], "PE 512-1023 have computed for 20 s") {
		t.Errorf("%q: %q", e.Title, e.Points)
	}
	for i := range 1024 { // the PE that counts is one of many who are late
		if s.PEs[i] = made(1024, 8, 20*time.Second).PEs[i]; i%2 == 1 {
			block(&s, i, boot.InBarrier, 2, 0, "main.go:40")
		}
	}
	if e = explained(s); !strings.HasPrefix(e.Title, "512 PEs wait for PE 0,2,4,") || !strings.HasSuffix(e.Title, " and 500 more") {
		t.Errorf("%q: %q", e.Title, e.Points)
	}
	for i := range 1024 {
		block(&s, i, boot.InLock, 0, (i+1)%1024, "main.go:9")
	}
	e = explained(s)
	if !strings.HasPrefix(e.Title, "The job hangs: PE 0-1023 wait for each other") || len(e.Points) != mostLinks+1 {
		t.Errorf("%q: %q", e.Title, e.Points)
	}
}

// TestList: a list of PEs is short.
func TestList(t *testing.T) {
	var odd []int
	for i := range 100 {
		odd = append(odd, 4*i, 4*i+1)
	}
	for want, pes := range map[string][]int{"0-3,5": {0, 1, 2, 3, 5}, "0-1,4-5,8-9,12-13,16-17,20-21,24-25,28-29,32-33,36-37,40-41,44-45 and 176 more": odd, "7": {7}} {
		if got := list(pes); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// TestSentence: one sentence names the PE that keeps most others waiting, and since when.
func TestSentence(t *testing.T) {
	barrier := func(s *launch.Snapshot, pes ...int) {
		for _, pe := range pes {
			block(s, pe, boot.InBarrier, 7, 0, "main.go:40")
		}
	}
	for _, c := range []struct {
		name string
		make func(s *launch.Snapshot)
		want string
	}{
		{"nobody waits", func(*launch.Snapshot) {}, ""},
		{"a barrier", func(s *launch.Snapshot) {
			barrier(s, 0, 1, 2)
			s.PEs[1].Time = 9 * time.Second
		}, "PE 3 keeps 3 PEs waiting since 11.0 s after the start, for 9.0 s: it is computing."},
		{"a short wait", func(s *launch.Snapshot) {
			block(s, 1, boot.InGet, 0, 2, "")
			s.PEs[1].Time = time.Second
		}, "PE 2 keeps 1 PE waiting since 19.0 s after the start, for 1.0 s: it is computing."},
		{"a chain", func(s *launch.Snapshot) {
			block(s, 0, boot.InGet, 0, 1, "")
			block(s, 1, boot.InLock, 8, 2, "")
			block(s, 3, boot.InGet, 0, 2, "")
		}, "PE 2 keeps 3 PEs waiting since 15.0 s after the start, for 5.0 s: it is computing."},
		{"two for which others wait", func(s *launch.Snapshot) {
			barrier(s, 0, 3)
		}, "PE 1 and 1 other like it keep 2 PEs waiting since 15.0 s after the start, for 5.0 s: PE 1 is computing."},
		{"one that waits for no PE", func(s *launch.Snapshot) {
			barrier(s, 0, 1, 2)
			block(s, 3, boot.InWait, 0x40, -1, "main.go:33")
		}, "PE 3 keeps 3 PEs waiting since 15.0 s after the start, for 5.0 s: it is in wait on the word at 0x40 of its heap, called at main.go:33."},
		{"one that has ended", func(s *launch.Snapshot) {
			barrier(s, 0, 1, 2)
			s.PEs[3].Ended, s.PEs[3].Status = true, 3
		}, "PE 3 keeps 3 PEs waiting since 15.0 s after the start, for 5.0 s: it is no longer there, with exit status 3."},
		{"a cycle, which has a section of its own", func(s *launch.Snapshot) {
			block(s, 0, boot.InLock, 8, 1, "")
			block(s, 1, boot.InLock, 9, 0, "")
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := made(4, 2, 20*time.Second)
			c.make(&s)
			if got := newGraph(s, nil, 0).sentence(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
