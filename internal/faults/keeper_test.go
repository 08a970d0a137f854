package faults

import (
	"bytes"
	"context"
	"os"
	"slices"
	"sync"
	"time"
)

// keeper restarts parts that do not run and are not held, as a process supervisor does, until ctx is done.
func (g *grid) keeper(ctx context.Context) {
	for ctx.Err() == nil {
		for _, p := range g.all() {
			if err := g.keep(p); err != nil {
				g.t.Errorf("start %s: %v", p.name, err)
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// The supervisor waits restartAfter before a restart. The others say how many ends within what time mean that a slave
// cannot start on its store. The store is then emptied, as docs/operations/trouble.md says.
const (
	restartAfter = 300 * time.Millisecond
	hopeless     = 5
	hopelessTime = 10 * time.Second
)

func (g *grid) keep(p *part) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if p.held || now.Before(p.next) || p.Running() {
		return nil
	}
	if p.Pid() != 0 && !p.forced {
		p.ends = append(p.ends, now)
		g.by[p.name+" ended by itself"]++
		g.ended = append(g.ended, p.name)
	}
	p.forced = false
	if n := len(p.ends); p.dir != "" && n >= hopeless && now.Sub(p.ends[n-hopeless]) < hopelessTime {
		p.ends = nil
		if err := os.RemoveAll(p.dir); err == nil { // if there is an error, the disk is read-only
			g.by[p.name+" emptied by hand"]++
		}
	}
	p.next = now.Add(restartAfter)
	_, err := p.Begin()
	return err
}

// unexplained returns the parts that ended by themselves although no fault touches them or anything that all parts
// share.
func (g *grid) unexplained(s *schedule) (list []string) {
	if s.touches("database") || s.touches("certificates") {
		return nil
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(g.ended))) {
		if !s.touches(name) {
			list = append(list, name+" ended by itself, and no fault touches it")
		}
	}
	return list
}

// down kills a part and keeps it down until up is called.
func (g *grid) down(p *part) {
	g.hold(p)
	p.Kill()
}

// hold keeps a part down after its end, which is on purpose.
func (g *grid) hold(p *part) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.held, p.forced = true, true
}

func (g *grid) up(p *part) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.held, p.next = false, time.Time{}
}

// end ends all parts in order, all at the same time. The keeper must have ended.
func (g *grid) end() {
	var all sync.WaitGroup
	for _, p := range g.all() {
		all.Go(p.Stop)
	}
	all.Wait()
}

// screams are texts that a process must never write to its standard error.
var screams = [...]string{"panic: ", "fatal error: ", "DATA RACE", "a search failed due to a defect"}

// panicked returns the lines with such texts that parts have written.
func (g *grid) panicked() (list []string) {
	for _, p := range append(g.all(), g.retired...) {
		text, err := os.ReadFile(p.Log)
		if err != nil {
			continue // the part has written nothing
		}
		for _, s := range screams {
			if i := bytes.Index(text, []byte(s)); i >= 0 {
				list = append(list, p.name+": "+string(text[max(0, i-200):min(len(text), i+2000)]))
			}
		}
	}
	return list
}
