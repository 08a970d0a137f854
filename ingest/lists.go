package ingest

import (
	"context"
	"errors"
	"fmt"

	"adshard/backend"
	"adshard/blocklist"
	"adshard/fault"
	"adshard/ingest/rejected"
)

// listTries is how often a block list is saved if others change it at the same time.
const listTries = 5

// saveLists applies the lines of block lists in their order. It runs after all files have been imported, since a line may
// name advertisers of any file.
func (r *run) saveLists(ctx context.Context) error {
	if len(r.lists) == 0 {
		return nil
	}
	ids, err := r.namedAdvertisers(ctx)
	if err != nil {
		return err
	}
	var names []string
	lines := make(map[string][]*listLine)
	for _, l := range r.lists {
		if missing := l.missing(ids); missing != "" {
			if err := r.rejectList(l, listNames, rejected.Found("there is no such advertiser", missing)); err != nil {
				return err
			}
			continue
		}
		if lines[l.name] == nil {
			names = append(names, l.name)
		}
		lines[l.name] = append(lines[l.name], l)
	}
	for _, name := range names {
		if err := r.saveList(ctx, name, lines[name], ids); err != nil {
			return err
		}
	}
	return nil
}

// namedAdvertisers returns the ids of the advertisers that lines name, by name. The id is 0 if there is no such
// advertiser.
func (r *run) namedAdvertisers(ctx context.Context) (map[string]uint64, error) {
	ids := make(map[string]uint64)
	for _, l := range r.lists {
		for _, name := range l.names {
			ids[name] = 0
		}
	}
	if len(ids) == 0 {
		return ids, nil
	}
	tx, err := r.store.Begin(ctx)
	if err != nil {
		return nil, err
	}
	for name := range ids {
		if ids[name], err = tx.FindAdvertiser(ctx, name); err != nil {
			break
		}
	}
	return ids, errors.Join(err, tx.Rollback())
}

// missing returns the first name in a line that no advertiser has, or "" if all exist.
func (l *listLine) missing(ids map[string]uint64) string {
	for _, name := range l.names {
		if ids[name] == 0 {
			return name
		}
	}
	return ""
}

// unfitLine is a line that cannot be applied to the list as it is now.
type unfitLine struct {
	line *listLine
	why  error
}

// saveList applies the lines of one list.
func (r *run) saveList(ctx context.Context, name string, lines []*listLine, ids map[string]uint64) error {
	for try := 1; ; try++ {
		effect, rejects, err := r.tryList(ctx, name, lines, ids)
		if fault.Is(err, fault.Conflict) && try < listTries {
			continue // another import has changed the list meanwhile
		}
		if err != nil {
			return fmt.Errorf("block list %s: %w", name, err)
		}
		for _, l := range rejects {
			if err := r.rejectList(l.line, fault.FieldOf(l.why), fault.Cause(l.why)); err != nil {
				return err
			}
		}
		*effect(&r.sum.Blocklists)++
		return nil
	}
}

// tryList applies lines to a list as it is now. It returns the effect on the list, and the lines that cannot be
// applied.
func (r *run) tryList(ctx context.Context, name string, lines []*listLine, ids map[string]uint64) (effect func(*EffectCounts) *int64, rejects []unfitLine, err error) {
	was, err := blocklist.Load(ctx, r.store, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, nil, err
	}
	now, there := was.List, was.Version != 0
	for _, l := range lines {
		if l.status == backend.Remove {
			now, there = blocklist.List{}, false
			continue
		}
		named := make([]uint64, len(l.names))
		for i, n := range l.names {
			named[i] = ids[n]
		}
		next := now
		if err := l.apply(&next, named); err != nil {
			rejects = append(rejects, unfitLine{l, err})
			continue
		}
		now, there = next, true
	}
	switch {
	case !there && was.Version == 0:
		return (*EffectCounts).left, rejects, nil
	case !there:
		return (*EffectCounts).removed, rejects, blocklist.Remove(ctx, r.store, name, was.Version)
	}
	version, err := blocklist.Save(ctx, r.store, name, was.Version, &now)
	switch {
	case was.Version == 0:
		return (*EffectCounts).created, rejects, err
	case version == was.Version:
		return (*EffectCounts).left, rejects, err
	}
	return (*EffectCounts).changed, rejects, err
}

func (n *EffectCounts) created() *int64 { return &n.Created }
func (n *EffectCounts) changed() *int64 { return &n.Changed }
func (n *EffectCounts) removed() *int64 { return &n.Removed }
func (n *EffectCounts) left() *int64    { return &n.Left }

// rejectList rejects a line that was accepted when it was read.
func (r *run) rejectList(l *listLine, field, why string) error {
	l.at.Column, l.at.Reason = field, why
	r.sum.Rejected++
	if len(r.sum.First) < rejected.Listed {
		r.sum.First = append(r.sum.First, l.at)
	}
	if f := r.options.Rejected; f != nil {
		f(l.at, nil)
	}
	return r.rejects.Write(&l.at)
}
