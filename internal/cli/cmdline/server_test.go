package cmdline

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestLogOfDurations: durations have a unit in both log formats.
func TestLogOfDurations(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var b bytes.Buffer
		log, err := NewLog(&b, "info", format)
		if err != nil {
			t.Fatal(err)
		}
		log.Info("done", "took", 1500*time.Millisecond)
		if !strings.Contains(b.String(), "1.5s") {
			t.Error(b.String())
		}
	}
}
