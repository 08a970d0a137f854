package backendtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	"adshard/backend"
)

const (
	rekeyRounds = 2
	rekeyKills  = 2 // one after the other in a round
	// rekeyBeat is shorter than the time that a child takes for two steps.
	rekeyBeat = 5 * time.Millisecond
)

// Rekey is the main function of the child of WordsKilled. It writes a line to out, opens the database, which rebuilds
// the keys, and writes a line after each durable step.
func Rekey(out io.Writer, open func(step func()) (backend.Store, error)) error {
	step := func() { _, _ = fmt.Fprintln(out, "step") } // the reader may kill this process at any time
	step()
	s, err := open(step)
	if err != nil {
		return err
	}
	return s.Close()
}

// WordsKilled runs processes that run Rekey on a database, one after the other, and kills them with SIGKILL at random
// moments. The next program that opens the database must find what it would find if no process had been killed.
func WordsKilled(t *testing.T, place func(testing.TB) WordsPlace, child func(WordsPlace) *exec.Cmd) {
	p := place(t)
	fillOld(t, p)
	steps := 1 // the first line of a child
	s, err := p.Reopen(t.Context(), func() { steps++ })
	check(t, err)
	want := wordsState(t, s)
	closing(t, s)
	killed := 0
	for round := range rekeyRounds {
		p := place(t)
		follower := fillOld(t, p)
		moments := ""
		for n := range rekeyKills {
			// Each step but the last is the last one of some child. What the child does a moment later is not
			// determined.
			lines, pause := 1+(round*rekeyKills+n)%(steps-1), rand.N(rekeyBeat)
			moments += fmt.Sprintf("killed %v after line %d, ", pause, lines)
			if killAfter(t, child(p), lines, pause) {
				killed++
			}
			if err := oldWrite(p); err == nil && lines > 1 {
				t.Errorf("%san older program writes", moments)
			}
		}
		s := reopened(t, p)
		if got := wordsState(t, s); got != want {
			t.Errorf("%sthere is\n%s\nwant\n%s", moments, got, want)
		}
		follower.follow(t, s, 100)
		if d := Differ(follower.state, ReadNow(t, s)); d != "" {
			t.Errorf("%sthe feed does not list everything that exists:\n%s", moments, d)
		}
		sound(t, s)
		closing(t, s)
	}
	if killed == 0 {
		t.Error("all processes ended before they were killed")
	}
}

// killAfter kills a process when `pause` has passed since its line number `lines`, or when it ends. It reports
// whether the process was killed before it ended.
func killAfter(t *testing.T, c *exec.Cmd, lines int, pause time.Duration) (killed bool) {
	t.Helper()
	out, err := c.StdoutPipe()
	check(t, err)
	check(t, c.Start())
	text := bufio.NewScanner(out)
	for range lines {
		text.Scan()
	}
	time.Sleep(pause)
	_ = c.Process.Kill() // it may have ended
	for text.Scan() {
	}
	err = c.Wait()
	if err != nil && c.ProcessState.Exited() {
		t.Fatalf("the process failed: %v", err)
	}
	return err != nil
}

// sound fails the test if the store finds damage, since every change must have updated the checksums.
func sound(t testing.TB, s backend.Worded) {
	t.Helper()
	c, ok := s.(backend.Checker)
	if !ok {
		return
	}
	if report, err := c.Check(context.Background(), nil); err != nil || len(report.Damage) > 0 || report.ByOthers > 0 {
		t.Errorf("%+v, %v", report, err)
	}
}
