package sim

type explorer struct {
	on       bool
	runnable []*task
}

func (x *explorer) next(s *sim) *task        { return nil }
func (x *explorer) step(t *task, o *op)      {}
func (x *explorer) yield(t *task)            {}
func (x *explorer) later(o *op)              {}
func (x *explorer) drop(o *op)               {}
func (x *explorer) finished(p *pe)           {}
