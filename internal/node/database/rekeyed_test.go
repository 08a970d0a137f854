package database

import (
	"slices"
	"testing"
	"time"
)

// TestRekeyingIsTold: progress is reported every ten seconds and once at the end, even if it is
// called again afterwards.
func TestRekeyingIsTold(t *testing.T) {
	var lines []string
	at := time.Unix(0, 0)
	told := tellRekeying(func(line string) { lines = append(lines, line) }, func() time.Time { return at })
	for _, step := range []struct{ after, done int }{{9, 1}, {1, 2}, {0, 3}, {9, 4}, {20, 5}, {0, 7}, {0, 7}} {
		at = at.Add(time.Duration(step.after) * time.Second)
		told(step.done, 7)
	}
	want := []string{
		"words have a new version: the keys of keywords are made anew in 2 of 7 lists of keywords and negatives",
		"words have a new version: the keys of keywords are made anew in 5 of 7 lists of keywords and negatives",
		"words have a new version: the keys of keywords were made anew in 7 lists of keywords and negatives",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
}
