package processtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"adshard/backend"
	"adshard/internal/node/distributor"
	"adshard/search"
)

// moving returns a cluster with a separate distributor and short times.
func moving(t *testing.T, w *world) (c *cluster, url string) {
	c = newCluster(t, w)
	c.cfg.Distribute, c.cfg.Interval = false, 0
	c.cfg.Linger, c.cfg.MasterLease, c.cfg.DeadAfter = 100*time.Millisecond, time.Second, time.Second
	c.startBalancer()
	c.startDistributor()
	c.startSlave(0)
	c.startSlave(1)
	url = c.startMaster()
	w.follows(url)
	return c, url
}

func (c *cluster) startDistributor() {
	c.t.Helper()
	d := distributor.DefaultConfig()
	d.DB, d.Listen, d.Admin, d.Balancer, d.BucketBytes = c.world.url(), anyPort, "", c.cfg.Listen, 2<<10
	p := start(c.t, "distributor", d)
	p.line("distributor 0 listening ")
	c.parts["distributor"] = p
}

// slice is the balancer's description of a slice.
type slice struct {
	Slice uint64
	Slave string
	To    string
	Items uint64
}

func (c *cluster) slices() []slice {
	c.t.Helper()
	resp, err := http.Get(c.admin + "/v1/balance/slices")
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct{ Slices []slice }
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		c.t.Fatal(err)
	}
	return list.Slices
}

// move starts a move of the largest slice of one slave to another, and returns the slice's id.
func (c *cluster) move(from, to string) uint64 {
	c.t.Helper()
	var id uint64
	eventually(c.t, "a move begins", func() bool {
		list := slices.DeleteFunc(c.slices(), func(s slice) bool { return s.Slave != from || s.To != "" })
		if len(list) == 0 {
			return false
		}
		id = slices.MaxFunc(list, func(a, b slice) int { return int(a.Items) - int(b.Items) }).Slice
		body, _ := json.Marshal(map[string]any{"slice": id, "slave": to})
		resp, err := http.Post(c.admin+"/v1/balance/move", "application/json", bytes.NewReader(body))
		if err != nil {
			c.t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return id
}

// still reports whether no slice is being moved.
func (c *cluster) still() bool {
	resp, err := http.Get(c.admin + "/v1/balance")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var status struct {
		Moves []json.RawMessage `json:"moves_in_flight"`
	}
	return json.NewDecoder(resp.Body).Decode(&status) == nil && status.Moves != nil && len(status.Moves) == 0
}

// TestKilledWhileASliceMoves: each part is killed at different moments of a move. The move ends in
// one way or another, and every group exists exactly once.
func TestKilledWhileASliceMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 150)
	c, url := moving(t, w)
	again := map[string]func(){
		"slave-0": func() { c.startSlave(0) }, "slave-1": func() { c.startSlave(1) },
		"balancer": c.startBalancer, "distributor": c.startDistributor,
	}
	turn := 0
	for _, victims := range [][]string{{"slave-0"}, {"slave-1"}, {"slave-0", "slave-1"}, {"balancer"}, {"distributor"}} {
		for _, after := range []time.Duration{0, 40 * time.Millisecond} {
			turn++
			from, to := fmt.Sprint("slave-", turn%2), fmt.Sprint("slave-", (turn+1)%2)
			c.move(from, to)
			time.Sleep(after)
			for _, v := range victims {
				c.parts[v].kill()
			}
			w.write(turn, turn+5)
			for _, v := range victims {
				again[v]()
			}
			eventually(t, fmt.Sprintf("the move is over after the end of %v", victims), c.still)
		}
	}
	w.follows(url)
	w.compare(url)
	eventually(t, "every group is held once", func() bool {
		list := slaves(t, c.admin)
		return groupsOf(list, "slave-0")+groupsOf(list, "slave-1") == 600
	})
}

// rebid gives each group of an advertiser a new bid.
func (w *world) rebid(advertiser int) {
	w.t.Helper()
	ctx := w.t.Context()
	tx, err := w.db.Begin(ctx)
	w.must(err)
	defer tx.Rollback()
	id, err := tx.Advertiser(ctx, fmt.Sprint("advertiser ", advertiser))
	w.must(err)
	campaign, err := tx.Campaign(ctx, id, "campaign", backend.CampaignPatch{})
	w.must(err)
	for g := range 4 {
		_, err := tx.Group(ctx, campaign, fmt.Sprint("group ", g), backend.GroupPatch{Bid: backend.To(uint64(10_000 * (1 + w.rnd.IntN(300))))})
		w.must(err)
	}
	w.must(tx.Commit(ctx))
}

// TestASliceThatChangesAllTheTime: a slice is moved there and back while each of its groups changes
// five times a second, and nothing is lost.
func TestASliceThatChangesAllTheTime(t *testing.T) {
	t.Parallel()
	const advertisers = 10
	w := newWorld(t, advertisers)
	c, url := moving(t, w)
	for _, to := range []string{"slave-1", "slave-0"} {
		from := "slave-0"
		if to == from {
			from = "slave-1"
		}
		id := c.move(from, to)
		began, passes := time.Now(), 0
		eventually(t, "the move is over", func() bool {
			turn := time.Now()
			for a := range advertisers {
				w.rebid(a)
			}
			passes++
			time.Sleep(200*time.Millisecond - time.Since(turn))
			return c.still()
		})
		t.Logf("to %s: each group changed %d times in %v", to, passes, time.Since(began))
		if !slices.ContainsFunc(c.slices(), func(s slice) bool { return s.Slice == id && s.Slave == to }) {
			t.Errorf("slice %d has not moved to %s", id, to)
		}
	}
	w.follows(url)
	w.compare(url)
}

// TestAGroupFarLargerThanABucket: an ad group goes into one bucket whatever its size, and can be
// moved and changed.
func TestAGroupFarLargerThanABucket(t *testing.T) {
	t.Parallel()
	const keywords = 2_000 // about sixty times a bucket
	w := newWorld(t, 20)
	large := func() {
		ctx := t.Context()
		tx, err := w.db.Begin(ctx)
		w.must(err)
		defer tx.Rollback()
		advertiser, err := tx.Advertiser(ctx, "advertiser 0")
		w.must(err)
		campaign, err := tx.Campaign(ctx, advertiser, "campaign", backend.CampaignPatch{})
		w.must(err)
		group, err := tx.Group(ctx, campaign, "group 0", backend.GroupPatch{Bid: backend.To(uint64(1_000_000 + w.rnd.IntN(1_000_000)))})
		w.must(err)
		for i := range keywords {
			words := fmt.Sprint(vocabulary[i%len(vocabulary)], " part ", i)
			w.must(tx.Keyword(ctx, group, backend.KeywordPatch{Text: words, Words: words, Type: search.Broad}))
		}
		w.must(tx.Commit(ctx))
	}
	large()
	c, url := moving(t, w)
	for _, name := range []string{"slave-0", "slave-1"} { // one of them has it
		if status, text := c.tell("/v1/slaves/" + name + "/drain"); status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
		large()
		eventually(t, name+" is drained", func() bool { return groupsOf(slaves(t, c.admin), name) == 0 })
		w.follows(url)
		w.compare(url)
		c.add(name)
	}
	if a := ask(t, url, "usb cable part 41", "&counts=exact", http.StatusOK); a.Matched == 0 {
		t.Errorf("%+v", a)
	}
}

// add adds a drained slave again.
func (c *cluster) add(name string) {
	c.t.Helper()
	eventually(c.t, name+" is taken back", func() bool {
		for _, s := range slaves(c.t, c.admin) {
			if s.Name != name {
				continue
			}
			body, _ := json.Marshal(map[string]string{"address": s.Address})
			resp, err := http.Post(c.admin+"/v1/slaves", "application/json", bytes.NewReader(body))
			if err != nil {
				c.t.Fatal(err)
			}
			_ = resp.Body.Close()
			return resp.StatusCode == http.StatusOK
		}
		return false
	})
}
