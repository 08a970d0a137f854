package config

import (
	"bytes"
	"testing"

	"adshard/fault"
)

// TestSize: sizes are parsed in all the forms in which they may be written.
func TestSize(t *testing.T) {
	type sized struct {
		Memory Size `yaml:"memory"`
	}
	for text, want := range map[string]Size{"4GiB": 4 << 30, "512 MiB": 512 << 20, "1KiB": 1 << 10, "12345": 12345, "1025KiB": 1025 << 10} {
		var got, again sized
		if err := Parse([]byte("memory: "+text), &got); err != nil || got.Memory != want {
			t.Errorf("%s: %d, %v", text, got.Memory, err)
		}
		var written bytes.Buffer
		if err := Write(&written, got); err != nil {
			t.Fatal(err)
		}
		if err := Parse(written.Bytes(), &again); err != nil || again != got {
			t.Errorf("%s was written as %s: %v", text, &written, err)
		}
	}
	for _, text := range []string{"4GB", "-1", "1.5GiB", "much", "9999999999GiB", "GiB"} {
		if err := Parse([]byte("memory: "+text), new(sized)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
