package collector_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"adshard/backend"
	"adshard/backend/pgtest"
	"adshard/backend/postgres"
	"adshard/events"
	"adshard/events/token"
	"adshard/internal/clustertest"
	"adshard/internal/node/collector"
	"adshard/internal/node/database"
	"adshard/internal/node/porttest"
)

// onPostgreSQL starts a server with a database of campaigns, each with a daily budget of 50,000
// micros.
func onPostgreSQL(t *testing.T, campaigns int) (*pgtest.Server, *postgres.Store) {
	t.Helper()
	server, err := pgtest.New("fsync=off", "full_page_writes=off")
	if err == nil {
		t.Cleanup(func() { server.Remove() })
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(t.Context(), server.URL("postgres"), postgres.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	a, err := tx.Advertiser(t.Context(), "A")
	for n := 0; n < campaigns && err == nil; n++ {
		_, err = tx.Campaign(t.Context(), a, fmt.Sprint("C", n), backend.CampaignPatch{DailyBudget: backend.To(uint64(50_000))})
	}
	if err == nil {
		err = tx.Commit(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return server, db
}

// TestKillOnPostgreSQL: clients send events to two collectors on a PostgreSQL server and repeat
// them until they are acknowledged, while collectors and once the server are killed. Each event
// counts once, and campaigns that spent their budget are marked.
func TestKillOnPostgreSQL(t *testing.T) {
	if testing.Short() {
		t.Skip("short: TestKill is the same on SQLite")
	}
	const clients, batches, size, campaigns = 3, 40, 20, 4
	server, db := onPostgreSQL(t, campaigns)
	var processes [2]*clustertest.Process
	var urls [2]string
	for i := range processes {
		name, address := fmt.Sprint("collector-", i), porttest.Address(t)
		urls[i] = "http://" + address
		processes[i] = clustertest.NewProcess(t, "collector", name, "collector listening", map[string]any{
			"name": name, "db": server.URL("postgres"), "http": address, "admin": ""})
		if err := processes[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	bodies := batchesOf(t, db, clients, batches, size, campaigns)
	var sent sync.WaitGroup
	enough := make(chan struct{})
	for i := range clients {
		sent.Go(func() {
			sendUntilCounted(t, urls, bodies[i][:batches*3/4])
			<-enough
			sendUntilCounted(t, urls, bodies[i][batches*3/4:])
		})
	}
	done := make(chan struct{})
	go func() { sent.Wait(); close(done) }()
	sending := true
	for kills := 0; sending; kills++ {
		if kills == 3 {
			close(enough)
		}
		select {
		case <-done:
			sending = false
			continue
		case <-time.After(time.Duration(20+rand.IntN(120)) * time.Millisecond):
		}
		var err error
		if kills == 1 {
			if err = server.Kill(); err == nil {
				err = server.Start()
			}
		} else {
			processes[kills%2].Kill()
			err = processes[kills%2].Start()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	checkOnPostgreSQL(t, server.URL("postgres"), db, clients*batches*size, campaigns)
}

// batchesOf returns batches of tokens that are signed with the keys of the cluster.
func batchesOf(t *testing.T, db backend.Store, clients, batches, size, campaigns int) [][]string {
	t.Helper()
	keys, err := db.LoadControl(t.Context(), "balancer"+events.KeysKey)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.ParseRing(keys)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{TB: t}
	bodies := make([][]string, clients)
	for i := range bodies {
		for range batches {
			var list []string
			for n := range size {
				list = append(list, event("click", r.sign(ring, uint64(1+n%campaigns), 1000)))
			}
			bodies[i] = append(bodies[i], batch(list...))
		}
	}
	return bodies
}

// checkOnPostgreSQL checks the sums and waits for the marks.
func checkOnPostgreSQL(t *testing.T, url string, db backend.Store, clicks, campaigns int) {
	t.Helper()
	s, err := database.OpenEvents(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if sum := total(t, s); sum.Clicks != uint64(clicks) || sum.Spend != uint64(clicks)*1000 {
		t.Errorf("%d clicks of %d are counted, %d micros", sum.Clicks, clicks, sum.Spend)
	}
	for c := range campaigns {
		eventually(t, fmt.Sprintf("campaign %d is not marked", c+1), func() bool {
			list, err := collector.Budgets(t.Context(), db, uint64(c+1))
			return err == nil && list[0].Exhausted
		})
	}
}
