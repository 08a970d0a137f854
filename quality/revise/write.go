package revise

import (
	"context"
	"errors"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/wait"
)

// Patience is how long a transaction is retried if it fails because another one writes the same rows
// (fault.Locked) or the database is away (fault.Unavailable).
const Patience = 2 * time.Minute

const (
	// together is the number of keywords written in one transaction.
	together = 2000
	// pause is the time between two attempts at a transaction.
	pause = 200 * time.Millisecond
)

// Result is what was written. After an error it is what was committed.
type Result struct {
	Written int
	// Gone is the number of keywords that were removed after the plan was made. They stay removed.
	Gone         int
	Transactions int
}

// Write writes the qualities in transactions of some thousand keywords. It calls written, unless
// nil, after each transaction with the number of keywords so far. It returns fault.Conflict if
// counts were erased after p.Erasures was read.
func (p *Plan) Write(ctx context.Context, store backend.Store, written func(done int)) (r Result, err error) {
	for first := 0; first < len(p.Changes); first += together {
		if first > 0 && p.Pause > 0 {
			if err := wait.Sleep(ctx, p.Pause); err != nil {
				return r, err
			}
		}
		some := p.Changes[first:min(first+together, len(p.Changes))]
		// Writing a quality again has no effect, so it does not matter whether a transaction whose
		// answer was lost has been committed.
		gone := make(map[uint64]bool)
		err := patiently(ctx, func() (err error) {
			for again := true; again && err == nil; { // repeated without the keywords that are gone
				again, err = p.write(ctx, store, some, gone)
			}
			return err
		})
		if err != nil {
			return r, err
		}
		r.Written += len(some) - len(gone)
		r.Gone += len(gone)
		r.Transactions++
		if written != nil {
			written(r.Written + r.Gone)
		}
	}
	return r, nil
}

// patiently retries do while another transaction writes the same rows or the database is away.
func patiently(ctx context.Context, do func() error) error {
	until := time.Now().Add(Patience)
	for {
		err := do()
		if !fault.Is(err, fault.Locked) && !fault.Is(err, fault.Unavailable) || time.Now().After(until) {
			return err
		}
		if err := wait.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// write writes the changes whose keywords still exist. If upserts have created removed keywords
// again, it undoes the transaction and returns true.
func (p *Plan) write(ctx context.Context, store backend.Store, some []Change, gone map[uint64]bool) (again bool, err error) {
	tx, err := store.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	if p.Erasures != nil {
		if err := tx.Expect(ctx, erasuresKey, p.Erasures); err != nil {
			return false, err
		}
	}
	made := false
	tx.Watch(func(_ backend.Entity, _ uint64, effect backend.Effect) { made = made || effect == backend.Created })
	looked, there := uint64(0), false // the last group looked up, and whether it exists
	for i := range some {
		c := &some[i]
		if gone[c.Key.Keyword] {
			continue
		}
		if looked != c.Key.Group {
			if there, err = exists(ctx, tx, c); err != nil {
				return false, err
			}
			looked = c.Key.Group
		}
		if !there {
			gone[c.Key.Keyword] = true
			continue
		}
		k := &c.Keyword
		patch := backend.KeywordPatch{Text: k.Text, Words: k.Words, Type: k.Type, Learned: c.learned()}
		if err := tx.Keyword(ctx, c.Key.Group, patch); err != nil {
			return false, err
		}
		if made { // go on, so that all keywords that are gone are known the next time
			gone[c.Key.Keyword] = true
			again, made = true, false
		}
	}
	if again {
		return true, nil
	}
	return false, tx.Commit(ctx)
}

// exists reports whether the group of a change still exists.
func exists(ctx context.Context, tx backend.Tx, c *Change) (bool, error) {
	advertiser, err := tx.FindAdvertiser(ctx, c.Advertiser)
	if err != nil || advertiser == 0 {
		return false, err
	}
	campaign, err := tx.FindCampaign(ctx, advertiser, c.Campaign)
	if err != nil || campaign == 0 {
		return false, err
	}
	group, err := tx.FindGroup(ctx, campaign, c.Group)
	return group == c.Key.Group, err
}
