package faults

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// inOrder plays each step at its time, but not before all earlier steps that touch the same parts are over: undoing a
// step may take longer than the step lasts, and then the next ones would race with it.
func (s *schedule) inOrder(play func(step)) {
	began, over := time.Now(), make([]chan struct{}, len(s.steps))
	var all sync.WaitGroup
	defer all.Wait()
	for i, next := range s.steps {
		over[i] = make(chan struct{})
		all.Go(func() {
			defer close(over[i])
			time.Sleep(time.Until(began.Add(next.at)))
			for j, before := range s.steps[:i] {
				if next.shares(before) {
					<-over[j]
				}
			}
			play(next)
		})
	}
}

// machine says what the machine allows. With the schedule it decides which faults are played.
type machine struct {
	hosts string // why links cannot be cut, or empty if they can
	disks bool   // disks can be mounted
	fuse  bool   // disks can be slow
	clock bool   // this program's clock can be shifted
}

// leftOut returns for each step what it lacks, or "" if it can be played, before any step is played.
func (s *schedule) leftOut(m machine) []string {
	list := make([]string, len(s.steps))
	for i, st := range s.steps {
		if st.kind.missing != nil {
			own := m
			own.clock = m.clock && s.current(i)
			list[i] = st.kind.missing(own)
		}
	}
	return list
}

// current reports whether at a step parts run the current programs, not older ones that are replaced later.
func (s *schedule) current(i int) bool {
	return s.programs == "" || slices.ContainsFunc(s.steps[:i], step.upgrades)
}

// TestInOrder: faults on one part follow each other in the order of the schedule, however long they take, and others
// do not wait.
func TestInOrder(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			at := func(second int, parts ...string) step {
				return step{at: time.Duration(second) * time.Second, fault: kill{parts}}
			}
			s := &schedule{steps: []step{at(0, "a"), at(1, "a", "b"), at(2, "b"), at(3, "a"), at(4, "c"), at(5, "b")}}
			var mu sync.Mutex
			var got []string
			began := time.Now()
			s.inOrder(func(st step) {
				mu.Lock()
				got = append(got, fmt.Sprint(st.at, " ", st.fault, " ", time.Since(began)))
				mu.Unlock()
				time.Sleep(10*time.Second + time.Duration(len(st.fault.touches()))*time.Second)
			})
			slices.Sort(got)
			want := []string{"0s a 0s", "1s a b 11s", "2s b 23s", "3s a 23s", "4s c 4s", "5s b 34s"}
			if !slices.Equal(got, want) {
				t.Errorf("played %q, want %q", got, want)
			}
		})
	}
}

// TestLeftOut: which steps are left out depends only on the schedule and the machine, and the steps drawn depend on
// neither the machine nor the programs.
func TestLeftOut(t *testing.T) {
	all := machine{disks: true, fuse: true, clock: true}
	lacking := make(map[string]bool)
	for seed := range uint64(200) {
		s := draw(seed, 20*time.Second)
		if got := s.leftOut(all); slices.ContainsFunc(got, func(why string) bool { return why != "" }) {
			t.Errorf("a machine that allows all: %q of %s", got, s)
		}
		for i, why := range s.leftOut(machine{hosts: "hosts"}) {
			k := s.steps[i].kind
			if (why != "") != (k.missing != nil) {
				t.Errorf("on a machine that allows nothing, %q lacks %q", k.name, why)
			}
			lacking[k.name] = why != ""
		}
	}
	for _, k := range kinds() {
		if lacking[k.name] != (k.missing != nil) {
			t.Errorf("%q: left out: %v", k.name, lacking[k.name])
		}
	}
	shifts := step{kind: kind{missing: noShift}}
	s := &schedule{programs: "old", steps: []step{shifts, {kind: kind{}, fault: upgraded{}}, shifts}}
	if got := s.leftOut(all); got[0] == "" || got[1] != "" || got[2] != "" {
		t.Errorf("clocks of programs before and after they are replaced: %q", got)
	}
}
