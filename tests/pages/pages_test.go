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
