package engine

// Drive calls f as the task t, which NewDriven has made.
func (e *Engine) Drive(t *Task, f func()) {
	e.running = t
	f()
}

// NewDriven returns a task of p without a coroutine: a goroutine acts as the task, by Drive.
func NewDriven(p *PE) *Task { return &Task{pe: p} }

// HandleNext handles the next event, if there is one, while no task runs.
func (e *Engine) HandleNext() {
	at, ev := e.queue.pop()
	if ev == nil {
		return
	}
	e.now = at
	if ev.kind == object {
		e.model.Happen(ev)
	} else {
		e.happen(ev)
	}
}
