package backendtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/search"
)

const (
	killGroups   = 20 // groups of one transaction of WriteForever
	killKeywords = 50 // keywords of a group
	killRounds   = 6
)

// WriteForever commits one transaction after another. It writes the number of each to out once its commit was
// acknowledged. It continues after the present content.
func WriteForever(ctx context.Context, s backend.Store, out io.Writer) error {
	n, err := s.Counts(ctx)
	if err != nil {
		return err
	}
	for round := n.Groups / killGroups; ; round++ {
		if err := writeRound(ctx, s, round); err != nil {
			return err
		}
		if err := s.SaveControl(ctx, "round", []byte(strconv.FormatUint(round, 10))); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, round); err != nil {
			return err
		}
	}
}

// writeRound adds groups and a campaign, and pauses the campaign of the previous round.
func writeRound(ctx context.Context, s backend.Store, round uint64) error {
	tx, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	a, err := tx.Advertiser(ctx, "A")
	if err != nil {
		return err
	}
	if round > 0 {
		if _, err := tx.Campaign(ctx, a, fmt.Sprint("C", round-1), backend.CampaignPatch{Status: backend.Pause}); err != nil {
			return err
		}
	}
	c, err := tx.Campaign(ctx, a, fmt.Sprint("C", round), backend.CampaignPatch{})
	if err != nil {
		return err
	}
	for i := range killGroups {
		g, err := tx.Group(ctx, c, fmt.Sprint("G", i), backend.GroupPatch{})
		if err != nil {
			return err
		}
		for k := range killKeywords {
			words := fmt.Sprint("word ", k)
			if err := tx.Keyword(ctx, g, backend.KeywordPatch{Text: words, Words: words, Type: search.Broad}); err != nil {
				return err
			}
		}
	}
	return tx.Commit(ctx)
}

// Kill starts a process that runs WriteForever on the place, and kills it with SIGKILL at random moments. Each time
// it checks that every reported transaction is there as a whole, and no part of any other transaction.
func Kill(t *testing.T, p Place, child func() *exec.Cmd) {
	follower := &replica{state: NewState()}
	for range killRounds {
		reported := killOnce(t, child())
		s := p.Open(t, Patience)
		checkWhole(t, s, reported)
		follower.follow(t, s, 100)
		if d := Differ(follower.state, ReadNow(t, s)); d != "" {
			t.Errorf("the feed does not list everything that exists:\n%s", d)
		}
		closing(t, s)
	}
}

// killOnce returns the newest transaction that the process reported.
func killOnce(t *testing.T, c *exec.Cmd) uint64 {
	t.Helper()
	out, err := c.StdoutPipe()
	check(t, err)
	check(t, c.Start())
	lines := bufio.NewScanner(out)
	newest := uint64(0)
	killed := time.Time{}
	for lines.Scan() {
		newest, err = strconv.ParseUint(strings.TrimSpace(lines.Text()), 10, 64)
		check(t, err)
		if killed.IsZero() {
			// The process is running; it may be doing anything a few milliseconds later.
			time.AfterFunc(time.Duration(rand.IntN(60_000))*time.Microsecond, func() { c.Process.Kill() })
			killed = time.Now()
		}
	}
	if err := c.Wait(); err == nil || killed.IsZero() {
		t.Fatalf("the process ended unexpectedly: %v", err)
	}
	return newest
}

func checkWhole(t *testing.T, s backend.Store, reported uint64) {
	t.Helper()
	n := ReadNow(t, s)
	rounds := uint64(len(n.Campaigns))
	if rounds < reported+1 || len(n.Items) != int(rounds)*killGroups {
		t.Fatalf("%d transactions were reported, there are %d campaigns and %d groups", reported+1, rounds, len(n.Items))
	}
	for id, c := range n.Campaigns {
		if c.Enabled != (id == rounds) {
			t.Errorf("campaign %d of %d: enabled is %v", id, rounds, c.Enabled)
		}
	}
	next := uint64(0)
	for id := range uint64(len(n.Items)) {
		for _, k := range n.Items[id+1].Keywords {
			if next++; k.ID != next {
				t.Fatalf("group %d: keyword %d follows %d", id+1, k.ID, next-1)
			}
		}
	}
	if next != rounds*killGroups*killKeywords {
		t.Errorf("%d keywords in %d transactions", next, rounds)
	}
	control, err := s.LoadControl(t.Context(), "round")
	check(t, err)
	if v, err := strconv.ParseUint(string(control), 10, 64); err != nil || v < reported || v >= rounds {
		t.Errorf("control value %q after %d", control, reported)
	}
}
