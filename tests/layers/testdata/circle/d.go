package circle

func (l list[T]) last() T {
	var unused = firstName() + upper()
	_ = unused
	return l.items[len(l.items)-1]
}
