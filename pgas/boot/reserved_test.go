package boot

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestReservedMapIsDocumented: the table of the documentation has the offsets and sizes of the regions.
func TestReservedMapIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/internals/boot.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, region := range [][2]int{
		{nilOff, nilBytes}, {PlaceOff, PlaceBytes}, {WaitEdgeOff, WaitEdgeBytes}, {LeavingOff, LeavingBytes},
		{NoteQueueOff, NoteQueueBytes}, {TeamSlotsOff, TeamSlots * TeamSlotBytes}, {StagingOff, StagingBytes},
		{SignalBoardOff, SignalBoardBytes},
	} {
		if row := fmt.Sprintf("\n| %d | %d |", region[0], region[1]); !strings.Contains(string(page), row) {
			t.Errorf("docs/internals/boot.md has no row%s of the reserved memory", row)
		}
	}
}
