// Package transfer copies advertisers' data from one database to another, of any kind.
//
// Goals: all entities, statuses and budgets' marks as of one clock, and the documents of that time; bounded memory
// except for campaigns. Non-goals: ids, clocks, the log of changes and the balancer's state, which belong to one
// database: slaves are refilled from the copy.
package transfer

import (
	"context"
	"slices"
	"strings"

	"adshard/backend"
	"adshard/blocklist"
	"adshard/fault"
)

// rowsOfTx is the number of rows that are written in one transaction.
const rowsOfTx = 10_000

// Copy copies everything from one store to another, which must be empty. It notes m in the store `to` before it
// copies, and removes the note at the end, so that a part is not mistaken for the whole. If m is the zero value
// nothing is noted, for a store that only the caller uses. progress, which may be nil, is called with the number of
// ad groups that are done and the number of all. Copy returns what was copied. It returns fault.Conflict if `to` is
// not empty, and errors of the stores. After an error `to` holds a useless part.
func Copy(ctx context.Context, from, to backend.Store, m backend.Making, progress func(done, total uint64)) (backend.Counts, error) {
	if progress == nil {
		progress = func(uint64, uint64) {}
	}
	if err := begin(ctx, to, m); err != nil {
		return backend.Counts{}, err
	}
	n, err := from.Snapshot(ctx)
	if err != nil {
		return backend.Counts{}, err
	}
	defer n.Close()
	all, err := from.Counts(ctx)
	if err != nil {
		return backend.Counts{}, err
	}
	c := &copying{to: to, progress: progress, total: all.Groups, campaigns: make(map[uint64]uint64)}
	defer c.end()
	if err := c.parents(ctx, n); err != nil {
		return c.done, err
	}
	for it, err := range n.All(ctx) {
		if err == nil {
			err = c.item(ctx, it)
		}
		if err != nil {
			return c.done, err
		}
	}
	if err := c.commit(ctx); err != nil {
		return c.done, err
	}
	err = c.budgets(ctx)
	if err == nil {
		err = c.documents(ctx, from)
	}
	if err != nil || m.By == "" {
		return c.done, err
	}
	return c.done, to.Finish(ctx, m)
}

// begin returns an error unless a store is empty, and notes in it that m fills it.
func begin(ctx context.Context, to backend.Store, m backend.Making) error {
	there, err := to.Counts(ctx)
	switch {
	case err != nil:
		return err
	case there != (backend.Counts{}):
		return fault.Newf(fault.Conflict, "copy database", "the target is not empty (%d advertisers): name a new database", there.Advertisers)
	case m.By == "":
		return nil
	}
	return to.Mark(ctx, m)
}

// budgets copies the campaigns' budget marks.
func (c *copying) budgets(ctx context.Context) error {
	for _, m := range c.marks {
		if err := c.to.SetBudget(ctx, m.campaign, m.BudgetMark); err != nil {
			return err
		}
	}
	return nil
}

// documents copies the table of places and the block lists in their present state.
func (c *copying) documents(ctx context.Context, from backend.Documents) error {
	for after := uint64(0); ; {
		heads, err := from.Documents(ctx, after, documentsAtOnce)
		if err != nil || len(heads) == 0 {
			return err
		}
		for _, d := range heads {
			after = d.Version
			if d.Removed {
				continue
			}
			data, err := backend.ReadDocument(ctx, d, from.DocumentPart)
			if fault.Is(err, fault.NotFound) {
				continue // the document has just been replaced, and will be listed again
			}
			if err == nil {
				err = c.document(ctx, d.Name, data)
			}
			if err != nil {
				return err
			}
		}
	}
}

const documentsAtOnce = 100

// document saves a document, which may have been saved before. In a block list it replaces the ids of advertisers by
// those in the copy.
func (c *copying) document(ctx context.Context, name string, data []byte) error {
	if strings.HasPrefix(name, backend.BlocklistDocument) {
		var err error
		if data, err = c.list(data); err != nil {
			return err
		}
	}
	now, err := c.to.Document(ctx, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	_, err = c.to.SaveDocument(ctx, name, now.Version, data)
	return err
}

// list replaces the ids of advertisers in a block list by those in the copy. Advertisers that no longer exist are
// left out.
func (c *copying) list(data []byte) ([]byte, error) {
	text, err := backend.UnpackDocument(data)
	if err != nil {
		return nil, err
	}
	l, err := blocklist.Parse(text)
	if err != nil {
		return nil, err
	}
	ids := l.Advertisers
	l.Advertisers = nil
	for _, id := range ids {
		if now, ok := c.advertisers[id]; ok {
			l.Advertisers = append(l.Advertisers, now)
		}
	}
	slices.Sort(l.Advertisers)
	return backend.PackDocument(l.Text()), nil
}

// copying is the state of a running Copy.
type copying struct {
	to          backend.Store
	tx          backend.Tx // nil if none is open
	rows        int        // rows of the open transaction
	campaigns   map[uint64]uint64
	advertisers map[uint64]uint64
	marks       []mark
	done        backend.Counts
	total       uint64
	progress    func(done, total uint64)
}

// mark is the budget mark of a campaign in the target.
type mark struct {
	campaign uint64
	backend.BudgetMark
}

// room begins a transaction if none is open, and commits a full one first.
func (c *copying) room(ctx context.Context) (err error) {
	if c.tx != nil && c.rows >= rowsOfTx {
		if err := c.commit(ctx); err != nil {
			return err
		}
	}
	if c.tx == nil {
		c.tx, err = c.to.Begin(ctx)
		c.rows = 0
	}
	return err
}

func (c *copying) commit(ctx context.Context) error {
	if c.tx == nil {
		return nil
	}
	err := c.tx.Commit(ctx)
	c.tx = nil
	c.progress(c.done.Groups, c.total)
	return err
}

func (c *copying) end() {
	if c.tx != nil {
		_ = c.tx.Rollback() // an error is being returned already
	}
}

// parents copies advertisers and campaigns, including those without groups.
func (c *copying) parents(ctx context.Context, n backend.Snapshot) error {
	advertisers, err := n.Advertisers(ctx, nil)
	if err != nil {
		return err
	}
	c.advertisers = make(map[uint64]uint64, len(advertisers))
	for _, a := range advertisers {
		if err := c.room(ctx); err != nil {
			return err
		}
		id, err := c.tx.Advertiser(ctx, a.Name)
		if err == nil {
			err = c.tx.UpdateAdvertiser(ctx, id, a.Patch())
		}
		if err != nil {
			return err
		}
		c.advertisers[a.ID] = id
		c.done.Advertisers++
		if err := c.negatives(ctx, backend.NegativeOwner{Advertiser: id}, a.Negatives); err != nil {
			return err
		}
	}
	campaigns, err := n.Campaigns(ctx, nil)
	if err != nil {
		return err
	}
	for _, p := range campaigns {
		if err := c.campaign(ctx, c.advertisers[p.AdvertiserID], p); err != nil {
			return err
		}
	}
	return nil
}

func (c *copying) campaign(ctx context.Context, advertiser uint64, p *backend.Campaign) error {
	if err := c.room(ctx); err != nil {
		return err
	}
	patch := p.Patch()
	patch.Hold = held(p.Hold)
	id, err := c.tx.Campaign(ctx, advertiser, p.Name, patch)
	if err != nil {
		return err
	}
	c.campaigns[p.ID] = id
	if p.BudgetExhausted || p.Withheld > 0 {
		m := backend.BudgetMark{Exhausted: p.BudgetExhausted, Share: backend.To(backend.WholeShare - p.Withheld)}
		c.marks = append(c.marks, mark{id, m})
	}
	c.done.Campaigns++
	return c.negatives(ctx, backend.NegativeOwner{Campaign: id}, p.Negatives)
}

func (c *copying) negatives(ctx context.Context, owner backend.NegativeOwner, list []backend.Negative) error {
	for _, n := range list {
		err := c.tx.Negative(ctx, owner, backend.NegativePatch{Text: n.Text, Words: n.Words, Type: n.Type, Status: backend.StatusOf(n.Enabled)})
		if err != nil {
			return err
		}
	}
	c.rows += 1 + len(list)
	c.done.Negatives += uint64(len(list))
	return nil
}

func (c *copying) item(ctx context.Context, it *backend.Item) error {
	if err := c.room(ctx); err != nil {
		return err
	}
	g := it.Group
	campaign := c.campaigns[g.CampaignID]
	patch := g.Patch()
	patch.Hold = held(g.Hold)
	id, err := c.tx.Group(ctx, campaign, g.Name, patch)
	if err != nil {
		return err
	}
	for _, k := range it.Keywords {
		patch := k.Patch()
		patch.Text, patch.Words, patch.Type = k.Text, k.Words, k.Type
		if err := c.tx.Keyword(ctx, id, patch); err != nil {
			return err
		}
	}
	for _, a := range it.Ads {
		err := c.tx.Ad(ctx, id, backend.AdPatch{
			Headlines: a.Headlines, Descriptions: a.Descriptions, Path1: a.Path1, Path2: a.Path2, FinalURL: a.FinalURL, Status: backend.StatusOf(a.Enabled),
		})
		if err != nil {
			return err
		}
	}
	c.rows += len(it.Keywords) + len(it.Ads)
	c.done.Groups++
	c.done.Keywords += uint64(len(it.Keywords))
	c.done.Ads += uint64(len(it.Ads))
	return c.negatives(ctx, backend.NegativeOwner{Campaign: campaign, Group: id}, it.Negatives)
}

// held returns the change that sets an entity's hold in the copy. An unfinished import of the source never ends in
// the copy. So what it created is not served until its own row is imported.
func held(h backend.Hold) backend.HoldChange {
	if h.Import() != 0 {
		h = h.Marks() | backend.Refused
	}
	return backend.HoldTo(h)
}
