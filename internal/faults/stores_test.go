package faults

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"adshard/internal/clustertest"
)

// flips flips bits in files of a slave's store while the slave is down.
type flips struct {
	on
	bits int
	seed uint64
}

func flippedBits(dice *rand.Rand, _ *schedule) fault {
	return flips{on{pick(dice, slaveNames())}, 1 << dice.IntN(6), dice.Uint64()}
}

func (f flips) String() string { return fmt.Sprintf("%s, %d bits", f.on, f.bits) }

func (f flips) do(g *grid) error {
	p := g.part(f.on[0])
	list := func() []string {
		files, _ := filepath.Glob(filepath.Join(p.dir, "*")) // the pattern is valid
		// A slave of the same shard that has copied the store leaves a directory.
		return slices.DeleteFunc(files, func(file string) bool {
			info, err := os.Stat(file)
			return err != nil || info.IsDir()
		})
	}
	if err := g.eventually("the slave has files", func() bool { return len(list()) > 0 }); err != nil {
		return err // not even after an earlier fault has emptied it
	}
	g.down(p)
	defer g.up(p)
	files := list()
	if len(files) == 0 {
		return errors.New("the slave has removed its files meanwhile")
	}
	dice := rand.New(rand.NewPCG(f.seed, 1))
	for range f.bits {
		if err := clustertest.Flip(pick(dice, files), dice); err != nil {
			return err
		}
	}
	return nil
}

func (flips) undo(*grid) error { return nil }

// mixed combines the table files of an earlier moment with the log of a later one, as happens when a store is copied
// while its slave runs, or is partly restored. Before and in between the slave ends normally, so that there are table
// files, and some that the earlier moment lacks.
type mixed struct {
	on
	moment *clustertest.Moment
}

func mixedStore(dice *rand.Rand, _ *schedule) fault {
	return mixed{on{pick(dice, slaveNames())}, new(clustertest.Moment)}
}

func (f mixed) do(g *grid) (err error) {
	p := g.part(f.on[0])
	for i := range 2 {
		g.hold(p)
		p.Stop()
		if i == 0 {
			*f.moment, err = clustertest.TakeMoment(p.dir)
		}
		g.up(p)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		time.Sleep(time.Second) // let changes happen
	}
	return nil
}

func (f mixed) undo(g *grid) error {
	if len(*f.moment) == 0 {
		return nil // do has failed
	}
	p := g.part(f.on[0])
	g.down(p)
	defer g.up(p)
	return f.moment.Restore(p.dir)
}

// emptying removes a slave's directory, while the slave is down or while it runs.
type emptying struct {
	on
	running bool
}

func emptied(dice *rand.Rand, _ *schedule) fault {
	return emptying{on{pick(dice, slaveNames())}, dice.IntN(2) == 0}
}

func (f emptying) String() string {
	if f.running {
		return f.on.String() + ", running"
	}
	return f.on.String() + ", down"
}

func (f emptying) do(g *grid) error {
	p := g.part(f.on[0])
	if !f.running {
		g.down(p)
		defer g.up(p)
	}
	var err error
	for range 10 { // a running slave may write a file meanwhile
		if err = os.RemoveAll(p.dir); err == nil {
			break
		}
	}
	return err
}

func (emptying) undo(*grid) error { return nil }

// swap exchanges the directories of two slaves while they are down. They are not exchanged back.
type swap struct{ on }

func swapped(dice *rand.Rand, _ *schedule) fault {
	list := slaveNames()
	dice.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return swap{on(list[:2])}
}

func (f swap) do(g *grid) error {
	a, b := g.part(f.on[0]), g.part(f.on[1])
	g.down(a)
	g.down(b)
	defer g.up(a)
	defer g.up(b)
	aside := filepath.Join(g.dir, "aside")
	for _, move := range [][2]string{{a.dir, aside}, {b.dir, a.dir}, {aside, b.dir}} {
		if err := rename(move[0], move[1]); err != nil {
			return err
		}
	}
	return nil
}

func (f swap) undo(*grid) error { return nil } // they stay exchanged

// rename moves a directory, which may be on another disk.
func rename(from, to string) error {
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil // the disk was lost
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return os.RemoveAll(from)
}
