package pages

import (
	"slices"
	"testing"
)

func TestParagraphs(t *testing.T) {
	text := "# Title\none\ntwo\n\nthree\n- four\n  five\n1. six\n| a | row |\nseven\n```sh\neight\n\nnine\n```\nten\n"
	want := []Paragraph{
		{2, "one\ntwo\n"}, {5, "three\n"}, {6, "- four\n  five\n"}, {8, "1. six\n"}, {10, "seven\n"}, {16, "ten\n"},
	}
	if got := Paragraphs(text); !slices.Equal(got, want) {
		t.Errorf("Paragraphs returned %v", got)
	}
}

func TestSentences(t *testing.T) {
	text := "# Title\nOne of 1.5 parts. `a. B` is two,\nsays [the\npage](x.md): (it is.) \"Three.\" four\nfive? **Six.**\n\n- `Seven` is\n  last\n"
	want := []Sentence{
		{2, "One of 1.5 parts."}, {2, `~ is two, says the page: (it is.)`}, {4, `"Three." four five?`}, {5, "**Six.**"}, {7, "- ~ is last"},
	}
	if got := Sentences(text); !slices.Equal(got, want) {
		t.Errorf("Sentences returned %+v", got)
	}
}

func TestChained(t *testing.T) {
	for text, want := range map[string]bool{
		"A page that says one thing.":              false,
		"A page that names what is of it.":         true,
		"That is a page which is read.":            true,
		"Two pages, of which one is read.":         true,
		"Its length is that of the other.":         true,
		"It is read, too.":                         true,
		"It is too long to be read.":               false,
		"The PE is told by a signal.":              true,
		"A signal in place of a barrier.":          true,
		"Thatch, and a word to which one refers":   false,
		"Thatch, and the sandwiches for the waits": false,
	} {
		if (Sentence{Text: text}).Chained() != want {
			t.Errorf("Chained of %q is not %v", text, want)
		}
	}
}
