package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"adshard/backend"
	"adshard/ingest/rejected"
)

// pausedReasons are the reasons that a summary gives, in its order.
var pausedReasons = [...]string{backend.PausedByRow, backend.PausedByEnd, backend.PausedByImport}

// Shut says how many of the campaigns and groups that the files name are served as paused for one reason. First names
// them, at most rejected.Listed.
type Shut struct {
	Why   string // backend.PausedByRow, PausedByEnd or PausedByImport
	Count int64
	First []ShutEntity
}

// ShutEntity is a campaign or, if Group is set, an ad group.
type ShutEntity struct{ Advertiser, Campaign, Group string }

// String returns the warning.
func (s *Shut) String() string {
	why := map[string]string{
		backend.PausedByRow:    "own row was rejected: correct the row and import it",
		backend.PausedByEnd:    "End Date is over, or cannot be read as 2026-03-31: import another End Date, or [] for none",
		pausedByReject:         "row or line restricts it and was rejected: correct it, and import it with Campaign Status Enabled",
		backend.PausedByImport: "import has not come to the end of its file: import the same file again",
	}[s.Why]
	text := fmt.Sprintf("%d served as paused, whose %s:", s.Count, why)
	for i, e := range s.First {
		if i > 0 {
			text += ","
		}
		if text += " campaign " + rejected.Quote(e.Campaign); e.Group != "" {
			text += ", ad group " + rejected.Quote(e.Group)
		}
		text += " of " + rejected.Quote(e.Advertiser)
	}
	if more := s.Count - int64(len(s.First)); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// Renamed is a campaign or, if Group is set, an ad group that got a new name.
type Renamed struct {
	Advertiser, Campaign, Group string // by their present names
	From                        string
}

// String returns the change as one sentence.
func (r *Renamed) String() string {
	if r.Group != "" {
		return fmt.Sprintf("ad group %s of campaign %s of %s was renamed to %s", rejected.Quote(r.From), rejected.Quote(r.Campaign), rejected.Quote(r.Advertiser), rejected.Quote(r.Group))
	}
	return fmt.Sprintf("campaign %s of %s was renamed to %s", rejected.Quote(r.From), rejected.Quote(r.Advertiser), rejected.Quote(r.Campaign))
}

// tellShut sets the parts of the summary that depend on the final state of the database.
func (r *run) tellShut(ctx context.Context) error {
	if len(r.restricts.order) == 0 && r.effects[backend.EntityCampaign].named.IsEmpty() && r.effects[backend.EntityCampaign].created.IsEmpty() {
		return nil
	}
	tx, err := r.store.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	r.sum.Shut = r.paused.tell()
	if r.sum.Wider, err = r.restricts.list(ctx, tx); err != nil {
		return err
	}
	var found [2]shutLists
	for i, of := range []backend.Entity{backend.EntityCampaign, backend.EntityGroup} {
		var after uint64
		for n := heldTogether; n == heldTogether; {
			q := backend.HeldQuery{Groups: of == backend.EntityGroup, Any: true}
			n, err = tx.Held(ctx, q, after, heldTogether, func(h backend.Held) backend.Hold {
				if after = h.ID; r.effects.has(of, h.ID) {
					found[i].add(h)
				}
				return h.Hold
			})
			if err != nil {
				return err
			}
		}
	}
	return r.shut(ctx, found)
}

// shutLists holds the shut entities of one kind, by reason.
type shutLists [len(pausedReasons)]struct {
	count int64
	first []backend.Held
}

func (l *shutLists) add(h backend.Held) {
	for i, name := range pausedReasons {
		if slices.Contains(h.Hold.Reasons(), name) {
			if l[i].count++; len(l[i].first) < rejected.Listed {
				l[i].first = append(l[i].first, h)
			}
		}
	}
}

// shut adds the shut entities, with their names, to the summary.
func (r *run) shut(ctx context.Context, found [2]shutLists) error {
	var snapshot backend.Snapshot
	for i, name := range pausedReasons {
		campaigns, groups := &found[0][i], &found[1][i]
		s := Shut{Why: name, Count: campaigns.count + groups.count}
		if s.Count == 0 {
			continue
		}
		if snapshot == nil {
			var err error
			if snapshot, err = r.store.Snapshot(ctx); err != nil {
				return err
			}
			defer snapshot.Close()
		}
		for _, h := range campaigns.first {
			s.First = append(s.First, ShutEntity{Campaign: h.Name, Advertiser: advertiserName(ctx, snapshot, h.Owner)})
		}
		for _, h := range groups.first {
			if len(s.First) < rejected.Listed {
				s.First = append(s.First, groupName(ctx, snapshot, h))
			}
		}
		r.sum.Shut = append(r.sum.Shut, s)
	}
	return nil
}

// advertiserName returns the name of an advertiser, or "" if it was removed meanwhile.
func advertiserName(ctx context.Context, n backend.Snapshot, id uint64) string {
	if found, err := n.Advertisers(ctx, []uint64{id}); err == nil && len(found) > 0 {
		return found[0].Name
	}
	return ""
}

func groupName(ctx context.Context, n backend.Snapshot, h backend.Held) ShutEntity {
	e := ShutEntity{Group: h.Name}
	if found, err := n.Campaigns(ctx, []uint64{h.Owner}); err == nil && len(found) > 0 {
		e.Campaign, e.Advertiser = found[0].Name, advertiserName(ctx, n, found[0].AdvertiserID)
	}
	return e
}

var errPausedBy = errors.New("not a list of reasons: refused_row, end_date, unfinished_import; or null for none")

// pausedBy reads the field of campaigns and groups that says why they are held.
func (s *jsonSource) pausedBy() backend.Patch[backend.Hold] {
	switch v := &s.line.values[fieldPausedBy]; v.form {
	case formAbsent:
	case formNull:
		return backend.Patch[backend.Hold]{Op: backend.Reset}
	case formList:
		var h backend.Hold
		for _, name := range v.list {
			switch name {
			case backend.PausedByRow:
				h |= backend.Refused
			case backend.PausedByEnd:
				h |= backend.Ended
			case backend.PausedByImport:
				h |= backend.HeldBy(backend.MaxImport) // the number does not matter
			default:
				s.note(fieldPausedBy, errPausedBy)
			}
		}
		return backend.To(h)
	default:
		s.note(fieldPausedBy, errPausedBy)
	}
	return backend.Patch[backend.Hold]{}
}

// settingsHold is the change of the hold of a single campaign or group that is changed outside of a file. It changes
// only what the settings say. Enabling the entity lifts all of the hold but the end date, which is ordinary data.
type settingsHold struct {
	pausedBy backend.Patch[backend.Hold]
	enables  bool
}

// Change implements backend.HoldChange.
func (c *settingsHold) Change(now backend.Hold, _ bool) backend.Hold {
	says := c.pausedBy.Value
	switch {
	case c.pausedBy.Op == backend.Set && says.Import() != 0 && now.Import() != 0:
		return now - now.Marks() + says.Marks()
	case c.pausedBy.Op == backend.Set && says.Import() != 0:
		return says.Marks() | backend.Refused
	case c.pausedBy.Op != backend.Unchanged:
		return says.Marks()
	case c.enables:
		return now & backend.Ended
	}
	return now
}

// pausedCell returns the status cell for a file that has no column for holds.
func pausedCell(e *entry, status backend.Status) string {
	if e.pausedBy.Value != 0 && slices.Contains([]backend.Status{backend.Keep, backend.Enable}, status) {
		status = backend.Pause
	}
	return statusCells[status]
}
