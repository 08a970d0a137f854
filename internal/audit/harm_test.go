package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // copies the database and finds the pages of its rows

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/internal/clustertest"
	"adshard/internal/node/porttest"
	"adshard/search"
)

// harm does what an unlucky operator, a disk and a network may do: it hangs slaves, starts programs on another
// database, flips bits in stores and in the database, removes files, restores backups, mixes stores of two moments,
// kills a program that makes a database, and gives data as the output of commands. Nothing is repaired by hand.
func (a *auditor) harm(ctx context.Context) {
	h := &harmer{auditor: a, dice: rand.New(rand.NewPCG(3, 3)), other: otherDatabase(a.t)}
	kinds := []struct {
		name string
		do   func() error
	}{
		{"hang", h.hang}, {"balancer on another database", h.impostor}, {"bits of a store", h.flipStore},
		{"distributor on another database", h.stranger}, {"database away", h.away}, {"restore", h.restore},
		{"store removed", h.removeStore}, {"bits of the database", h.flipDatabase}, {"kill", h.kill}, {"store of two moments", h.mixStore},
		{"killed migration", h.killMigration}, {"outputs onto data", h.outputs},
	}
	for i := 0; wait(ctx, chosen.kill); i++ {
		k := kinds[i%len(kinds)]
		began := time.Now()
		if err := k.do(); err != nil {
			a.t.Errorf("%s: %v", k.name, err)
			return
		}
		a.t.Logf("%s %s, healed after %v", time.Now().Format("04:05"), k.name, time.Since(began).Round(time.Millisecond))
	}
}

// harmer does harm.
type harmer struct {
	*auditor
	dice  *rand.Rand
	other string // a valid database that is not the cluster's
}

// healed waits until all slaves are ready and some successive answers are complete.
func (h *harmer) healed() error {
	good := 0
	for end := time.Now().Add(healTime); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if good++; !h.settled() {
			good = 0
		}
		if good == 10 {
			return nil
		}
	}
	return errors.New("it does not heal")
}

// healTime limits the wait for something that may need a restart of the balancer and a refill.
const healTime = 2 * time.Minute

// during allows incomplete answers while do runs and until the cluster has healed.
func (h *harmer) during(do func() error) error {
	h.outages.begin()
	defer h.outages.end()
	return errors.Join(do(), h.healed())
}

func (h *harmer) slave() int { return h.dice.IntN(len(h.cluster.slaves)) }

func (h *harmer) kill() error {
	h.killSlave(h.slave(), false, 0)
	return nil
}

// hang stops a slave's process for some seconds, as on a machine that swaps.
func (h *harmer) hang() error {
	p := h.cluster.slaves[h.slave()]
	return h.during(func() error {
		defer p.Signal(syscall.SIGCONT)
		if err := p.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		time.Sleep(time.Duration(1+h.dice.IntN(4)) * time.Second)
		return nil
	})
}

// impostor starts the balancer on another database, at its own addresses. All other processes must continue with
// their data.
func (h *harmer) impostor() error {
	c := h.cluster
	c.balancer.Kill()
	wrong := clustertest.NewProcess(h.t, "balancer", "impostor", "balancer ready ", c.balancer.Changed(h.t, "db", "sqlite:"+h.other))
	if err := wrong.Start(); err != nil {
		return err
	}
	time.Sleep(3 * time.Second)
	wrong.Kill()
	return c.balancer.Start()
}

// stranger starts a distributor on another database beside the others.
func (h *harmer) stranger() error {
	config := h.cluster.distributors[0].Changed(h.t, "db", "sqlite:"+h.other)
	config["name"], config["listen"] = "stranger", porttest.Address(h.t)
	wrong := clustertest.NewProcess(h.t, "distributor", "stranger", "distributor ", config)
	if err := wrong.Start(); err != nil {
		return err
	}
	time.Sleep(3 * time.Second)
	wrong.Kill()
	return nil
}

// flipStore flips bits in the table files of a running slave. A search or the background pass may notice the damage
// much later.
func (h *harmer) flipStore() error {
	i := h.slave()
	h.lasting.Store(true) // incomplete answers are allowed from now on, if they give a reason
	return h.during(func() error {
		tables, err := filepath.Glob(filepath.Join(h.cluster.dirs[i], "*.sst"))
		if err != nil {
			return err
		}
		for range min(5, len(tables)) {
			if err := clustertest.Flip(tables[h.dice.IntN(len(tables))], h.dice); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err // a compaction may have removed it
			}
		}
		return nil
	})
}

// away moves the database's file away for some seconds. Acknowledged changes must not be lost, so none are made
// meanwhile.
func (h *harmer) away() error {
	resume := h.changing.Pause()
	defer resume()
	moved := h.data.path + ".away"
	if err := os.Rename(h.data.path, moved); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	if err := h.cluster.Post(context.Background(), "/v1/campaigns/1/budget", map[string]bool{"exhausted": true}); err == nil {
		err = os.Rename(moved, h.data.path)
		return errors.Join(errors.New("a budget mark was acknowledged while the database was away"), err)
	}
	return os.Rename(moved, h.data.path)
}

// restore replaces the database with a backup while everything runs, after changes that the backup lacks, and then
// makes other changes.
func (h *harmer) restore() error {
	resume := h.changing.Pause()
	backup := h.data.path + ".backup"
	_ = os.Remove(backup)
	if err := copyDatabase(h.data.path, backup); err != nil {
		resume()
		return err
	}
	at, err := h.data.store.Newest(context.Background())
	resume()
	if err != nil {
		return err
	}
	time.Sleep(time.Second) // for changes that the backup lacks
	before, err := h.cluster.Status()
	if err != nil {
		return err
	}
	return h.during(func() error {
		resume := h.changing.Pause()
		defer resume()
		h.changing.Restored(at.Clock)
		defer h.changing.Settled()
		for _, suffix := range []string{"-wal", "-shm"} {
			if err := os.Remove(h.data.path + suffix); err != nil {
				return err
			}
		}
		if err := os.Rename(backup, h.data.path); err != nil {
			return err
		}
		if err := h.follow(before.Epoch); err != nil {
			return err
		}
		return h.healed()
	})
}

// follow waits until the test's own handle has the restored database open and the balancer, which had the given
// epoch, has started over by itself.
func (h *harmer) follow(epoch uint64) error {
	for end := time.Now().Add(clustertest.Patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		now, err := h.cluster.Status()
		if err == nil && now.Epoch != epoch && h.data.store.Health(context.Background()) == nil {
			return nil
		}
	}
	return errors.New("nobody notices that the database was restored")
}

// removeStore deletes the directory of a running slave. If the slave ends it is restarted, as by a process
// supervisor.
func (h *harmer) removeStore() error {
	i := h.slave()
	return h.during(func() error {
		h.cluster.wipe(i)
		time.Sleep(2 * time.Second)
		if h.cluster.slaves[i].Running() {
			return nil
		}
		return h.cluster.slaves[i].Start()
	})
}

// mixStore combines the table files of an earlier moment with the log of a later one, as happens when a store is
// copied while its slave runs. The entries that the log had earlier are by then in other table files.
func (h *harmer) mixStore() error {
	i := h.slave()
	defer h.cluster.tidy(i)
	return h.during(func() error {
		p := h.cluster.slaves[i]
		p.Stop()
		moment, err := clustertest.TakeMoment(h.cluster.dirs[i])
		if err != nil {
			return err
		}
		for range 2 { // changes in between the two are in neither
			if err := p.Start(); err != nil {
				return err
			}
			time.Sleep(time.Second) // for changes
			p.Stop()
		}
		if err := p.Start(); err != nil {
			return err
		}
		time.Sleep(time.Second)
		p.Kill()
		if err := moment.Restore(h.cluster.dirs[i]); err != nil {
			return err
		}
		return p.Start()
	})
}

// killMigration starts a copy of the database to a new one, and kills it.
func (h *harmer) killMigration() error {
	defer h.changing.Pause()()
	return clustertest.KilledMigration("sqlite:"+h.data.path, h.t.TempDir(), time.Duration(h.dice.IntN(1000))*time.Millisecond)
}

// outputs gives the database as the output of commands.
func (h *harmer) outputs() error { return clustertest.OutputsOntoData(h.data.path, h.t.TempDir()) }

// flipDatabase flips a bit in a row of the database while there are no writes, makes the balancer and the
// distributors read everything again, and flips it back, as a bad cable would. The damage must reach no slave.
func (h *harmer) flipDatabase() error {
	resume := h.changing.Pause()
	defer resume()
	pages, size, err := rowPages(h.data.path)
	if err != nil || len(pages) == 0 {
		return err
	}
	f, err := os.OpenFile(h.data.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	at := (pages[h.dice.IntN(len(pages))]-1)*size + h.dice.Int64N(size)
	mask := byte(1) << h.dice.IntN(8)
	if err := clustertest.FlipAt(f, at, mask); err != nil {
		return err
	}
	for _, p := range h.cluster.distributors {
		p.Kill()
		_ = p.Start() // it may find the damage at once
	}
	time.Sleep(2 * time.Second)
	if err := clustertest.FlipAt(f, at, mask); err != nil {
		return err
	}
	for _, p := range h.cluster.distributors {
		if !p.Running() {
			if err := p.Start(); err != nil {
				return err
			}
		}
	}
	return h.healed()
}

// rowPages returns the pages of the database's file that have keywords and ads, which only the changer writes, and
// the page size.
func rowPages(path string) (pages []int64, size int64, err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, 0, err
	}
	defer db.Close()
	// This moves the rows that are in the log into the file.
	if _, err := db.Exec("PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		return nil, 0, err
	}
	if err := db.QueryRow("PRAGMA page_size").Scan(&size); err != nil {
		return nil, 0, err
	}
	rows, err := db.Query("SELECT pageno FROM dbstat WHERE name IN ('keyword', 'ad') AND pagetype = 'leaf'")
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, 0, err
		}
		pages = append(pages, n)
	}
	return pages, size, rows.Err()
}

// copyDatabase makes a backup while the database is open.
func copyDatabase(from, to string) error {
	db, err := sql.Open("sqlite", from)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec("VACUUM INTO ?", to)
	return err
}

// otherDatabase makes a small database that is not the cluster's.
func otherDatabase(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "other.db")
	ctx := t.Context()
	store, err := sqlite.Open(ctx, path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	tx, err := store.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	advertiser, err := tx.Advertiser(ctx, "Another")
	var campaign uint64
	if err == nil {
		campaign, err = tx.Campaign(ctx, advertiser, "campaign", backend.CampaignPatch{})
	}
	for i := 0; i < 50 && err == nil; i++ {
		var group uint64
		if group, err = tx.Group(ctx, campaign, fmt.Sprint("group ", i), backend.GroupPatch{Bid: backend.To(uint64(9_000_000))}); err == nil {
			err = errors.Join(tx.Keyword(ctx, group, backend.KeywordPatch{Text: "usb cable", Words: "usb cable", Type: search.Broad}),
				tx.Ad(ctx, group, clustertest.Shown(1)))
		}
	}
	if err == nil {
		err = tx.Commit(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
