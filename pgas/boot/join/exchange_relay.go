package join

// Servers of the exchange in a tree. Where one server would have to answer every PE of a large job, each host has a
// server for its PEs, which passes on to its parent, the server of another host, what it cannot answer itself:
//
//	put    goes up to the root, and is answered when the root has the value
//	get    is answered from what has passed by, or else goes up, once for all callers that wait for the key
//	fence  goes up when all PEs of the part have entered it, with their number
//
// So the root has as many callers as the tree's fan-out and its own host's PEs, and a call takes as many steps as the
// tree has levels. Each step is authenticated as a PE's call is: a server calls its parent with the number of its
// host's first PE, which has no connection to that parent itself.

import (
	"encoding/binary"
	"encoding/json"
)

func (s *Server) putAtParent(caller reply, key string, value []byte) {
	if _, err := s.parent.call(s.ctx, message{kind: msgPut, key: key, value: value}); err != nil {
		caller.answer(msgError, []byte(err.Error()))
		return
	}
	s.publish(key, value)
	caller.answer(msgOK, nil)
}

func (s *Server) getFromParent(key string) {
	m, err := s.parent.call(s.ctx, message{kind: msgGet, key: key})
	if err == nil {
		s.publish(key, m.value)
		return
	}
	s.mu.Lock()
	readers := s.waiting[key]
	delete(s.waiting, key)
	s.mu.Unlock()
	for _, r := range readers {
		r.answer(msgError, []byte(err.Error()))
	}
}

// fenceAtParent enters a fence for all PEs of the part, and answers its callers when it is over.
func (s *Server) fenceAtParent(callers map[int]arrival) {
	answer, why := msgOK, []byte(nil)
	if _, err := s.parent.call(s.ctx, message{kind: msgFence, value: encodeFence(s.PEs)}); err != nil {
		answer, why = msgError, []byte(err.Error())
	}
	for _, c := range callers {
		c.answer(answer, why)
	}
}

// tellPath answers with the addresses of the connection to the parent.
func (s *Server) tellPath(caller reply) {
	if s.parent == nil {
		caller.answer(msgError, []byte("the first host's server has no parent"))
		return
	}
	var p path
	var err error
	if p.Local, p.Remote, err = s.parent.Path(s.ctx); err != nil {
		caller.answer(msgError, []byte(err.Error()))
		return
	}
	value, _ := json.Marshal(p)
	caller.answer(msgOK, value)
}

// encodeFence returns the value of a call of a fence for several PEs. A PE's own call has none.
func encodeFence(pes int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(pes)) }

func decodeFence(value []byte) (pes int, ok bool) {
	switch len(value) {
	case 0:
		return 1, true
	case 4:
		pes = int(binary.BigEndian.Uint32(value))
		return pes, pes > 0
	}
	return 0, false
}
