package faults

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"adshard/internal/clustertest"
)

// settle checks what must hold when all faults are over and nothing changes any more.
func (g *grid) settle(ctx context.Context, r *record) {
	for _, what := range g.panicked() {
		r.fail(what)
	}
	g.shifted(r)
	g.current(r)
	if err := g.equal(ctx); err != nil {
		r.fail(err.Error())
	}
	g.bounded(r)
	status, _ := g.client.Status()
	done, failed := g.changing.Counts()
	r.mu.Lock()
	defer r.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	r.out.Changes, r.out.FailedChanges, r.out.By, r.out.Moved = done, failed, g.by, status.Moved.Items
}

// current asks each master for all changing data: acknowledged changes must be there, once.
func (g *grid) current(r *record) {
	var newest uint64
	if err := g.eventually("the database can be read", func() bool {
		at, err := g.database.store.Newest(context.Background())
		newest = at.Clock
		return err == nil
	}); err != nil {
		r.fail(err.Error())
		return
	}
	for _, base := range g.client.Masters {
		for i := range g.stock.questions {
			q := &g.stock.questions[i]
			g.atRest(r, q.String(), func() (clustertest.Answer, string, error) {
				a, err := g.client.AskAt(base, q.Params(true))
				return a, q.Difference(&a, true), err
			})
		}
		if err := g.eventually("answers are as new as the database", func() bool {
			a, err := g.client.AskAt(base, g.stock.questions[0].Params(true))
			return err == nil && a.Coverage.AppliedClock >= newest
		}); err != nil {
			r.fail(err.Error())
		}
		at := g.client.At(base, newest)
		for i := range clustertest.Groups {
			g.atRest(r, clustertest.Word(i), func() (clustertest.Answer, string, error) { return g.changing.Last(i, at) })
			g.atRest(r, "half of "+clustertest.Word(i), func() (clustertest.Answer, string, error) { return g.changing.Half(i, at) })
		}
		g.atRest(r, "zzall", func() (clustertest.Answer, string, error) { return g.changing.All(at) })
		if g.imported {
			g.atRest(r, importedWord, func() (clustertest.Answer, string, error) { return g.hasImported(at) })
		}
	}
}

// shifted waits until all masters' answers use the newest block list and place.
func (g *grid) shifted(r *record) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if !g.changing.Shifting.Settle(ctx, g.client) {
		r.fail("at rest the newest block list and place are not in all masters' answers")
	}
	g.t.Logf("%s; %d changes that mean nothing to answers", g.changing.Shifting.Report(), g.changing.Stirring.Changes())
}

// atRest notes what is wrong with an answer while there is no fault. An incomplete answer is requested again: a busy
// machine may take longer than a query's time.
func (g *grid) atRest(r *record, what string, ask func() (clustertest.Answer, string, error)) {
	var last string
	err := g.eventually("at rest "+what+" is complete", func() bool {
		a, wrong, err := ask()
		if err != nil || !a.Coverage.Complete {
			last = fmt.Sprintf("%v, %+v", err, a.Coverage)
			return false
		}
		if wrong != "" {
			r.wrong(time.Now(), "at rest "+what+": "+wrong)
		}
		return true
	})
	if err != nil {
		r.fail(err.Error() + ": " + last)
	}
}

// Limits of memory, in MiB, open files and directories, in MiB: far above normal use, and far below a leak.
const (
	mostMemory, mostFiles, mostDisk = 500, 1000, 128
)

// bounded measures the use of the parts.
func (g *grid) bounded(r *record) {
	memory, files, disk := make(map[string]int), make(map[string]int), make(map[string]int)
	for _, p := range g.all() {
		dir := fmt.Sprint("/proc/", p.Pid())
		memory[p.Command] = max(memory[p.Command], resident(dir))
		open, _ := os.ReadDir(filepath.Join(dir, "fd"))
		files[p.Command] = max(files[p.Command], len(open))
		if p.dir != "" {
			disk[p.Command] = max(disk[p.Command], size(p.dir))
		}
	}
	for _, check := range []struct {
		what string
		of   map[string]int
		most int
	}{{"MiB of memory", memory, mostMemory}, {"open files", files, mostFiles}, {"MiB on disk", disk, mostDisk}} {
		for command, n := range check.of {
			if n > check.most {
				r.fail(fmt.Sprintf("a %s has %d %s", command, n, check.what))
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Memory, r.out.Files, r.out.Disk = memory, files, disk
}

// resident returns the memory of a process, in MiB, or 0 if it does not run.
func resident(dir string) int {
	text, _ := os.ReadFile(filepath.Join(dir, "status"))
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(fields[0])
	return n >> 10
}

// size returns the total size of a directory's files, in MiB.
func size(dir string) int {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil {
			if info, err := e.Info(); err == nil && !e.IsDir() {
				sum += info.Size()
			}
		}
		return nil
	})
	return int(sum >> 20)
}
