package measure

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", 1.5: "1.5", 9.999: "10", 12.34: "12.3", 20: "20", 123.4: "123", 999.6: "1,000",
		1234567: "1,234,567", -4.25: "-4.25", 0.004: "0",
	} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestRounds(t *testing.T) {
	for _, c := range []struct {
		in                  []float64
		least, median, most float64
	}{
		{nil, 0, 0, 0}, {[]float64{3}, 3, 3, 3}, {[]float64{3, 1}, 1, 2, 3}, {[]float64{9, 1, 2}, 1, 2, 9},
	} {
		least, median, most := Rounds(c.in)
		if least != c.least || median != c.median || most != c.most {
			t.Errorf("Rounds(%v) = %v %v %v", c.in, least, median, most)
		}
	}
}

// TestLatencies compares the histogram with sorted durations.
func TestLatencies(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	one, two := NewLatencies(), NewLatencies()
	var all []time.Duration
	for range 10_000 {
		d := time.Duration(r.ExpFloat64() * float64(time.Millisecond))
		all = append(all, d)
		if r.IntN(2) == 0 {
			one.Add(d)
		} else {
			two.Add(d)
		}
	}
	one.Merge(two)
	slices.Sort(all)
	if one.Count() != 10_000 || one.Quantile(1) != all[len(all)-1] {
		t.Errorf("%d counted, slowest %v, want 10000 and %v", one.Count(), one.Quantile(1), all[len(all)-1])
	}
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
		want := all[int(q*float64(len(all)))-1]
		if got := one.Quantile(q); got < want*99/100 || got > want*102/100 {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	one.Add(-time.Second)
	one.Add(time.Hour)
	if one.Quantile(1) != longest {
		t.Errorf("beyond the range: %v", one.Quantile(1))
	}
}

func TestReport(t *testing.T) {
	r := &Report{Name: "x", Command: "adbench x"}
	r.Add("one", "µs", 12.5)
	r.AddRounds("more", "/s", []float64{3000, 1000, 2000})
	r.AddRounds("none", "/s", nil)
	r.Note("%d notes", 1)
	file := filepath.Join(t.TempDir(), "x.json")
	if err := r.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	if err := got.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"12.5", "2,000", "1,000 to 3,000", "1 notes"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in\n%s", want, table.String())
		}
	}
	if _, ok := got.Find("none"); ok {
		t.Error("a figure of no rounds is in the report")
	}
	if err := os.WriteFile(file, []byte("no"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(file); err == nil {
		t.Error("a file that is not a report was read")
	}
}

func TestProcess(t *testing.T) {
	m, err := MemoryOf(0)
	if err != nil {
		t.Skipf("no /proc: %v", err)
	}
	if m.Resident == 0 || m.Anonymous == 0 || m.Anonymous > m.Resident {
		t.Errorf("memory %+v", m)
	}
	for start := time.Now(); time.Since(start) < 30*time.Millisecond; { // use some processor time
	}
	own := CPUTime()
	if other, err := CPUTimeOf(os.Getpid()); err != nil || other > own+time.Second || own <= 0 {
		t.Errorf("processor time %v, by /proc %v, %v", own, other, err)
	}
	if Machine() == "" {
		t.Error("the machine has no description")
	}
}
