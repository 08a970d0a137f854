package sqlite

import (
	"errors"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/fault"
)

func asDamage(err error, to **backend.Damage) bool { return errors.As(err, to) }

// entity compares one entity with its sum.
func (k *checking) entity(kind backend.Kind, id uint64, s stored, rows sum) error {
	byOthers, d, err := k.c.verify(kind, id, s, rows)
	if byOthers && d == nil {
		k.report.ByOthers++
	}
	if d != nil {
		k.damaged(*d)
	}
	return err
}

func (k *checking) advertisers() error {
	k.progress("advertisers", 0, 0)
	r, err := readAdvertisers(k.c, nil)
	for i, a := range r.list {
		if err == nil {
			err = k.entity(backend.KindAdvertiser, a.ID, r.stored[i], r.rows[i])
		}
		k.report.Counts.Negatives += uint64(len(a.Negatives))
	}
	k.report.Counts.Advertisers = uint64(len(r.list))
	return err
}

func (k *checking) campaigns() error {
	k.progress("campaigns", 0, 0)
	r, err := readCampaigns(k.c, nil)
	for i, p := range r.list {
		if err == nil {
			err = k.entity(backend.KindCampaign, p.ID, r.stored[i], r.rows[i])
		}
		k.report.Counts.Negatives += uint64(len(p.Negatives))
	}
	k.report.Counts.Campaigns = uint64(len(r.list))
	return err
}

// groups reads the groups in chunks. A chunk that cannot be read is read group by group.
func (k *checking) groups() error {
	total, err := k.c.number("SELECT count(*) FROM ad_group")
	if err != nil {
		return err
	}
	for last := uint64(0); ; {
		var ids []uint64
		err := k.c.query("SELECT id FROM ad_group WHERE id > ? ORDER BY id LIMIT ?", func(st *zs.Stmt) error {
			ids = append(ids, uint64(st.ColumnInt64(0)))
			return nil
		}, last, int64(chunkGroups))
		if err != nil || len(ids) == 0 || ids[len(ids)-1] <= last {
			return err
		}
		err = k.between(ids[0], ids[len(ids)-1])
		if damage(err) {
			err = k.each(ids)
		}
		if err != nil {
			return err
		}
		last = ids[len(ids)-1]
		k.progress("ad groups", int64(k.report.Counts.Groups), total)
	}
}

// damage reports whether an error is caused by damage of the database.
func damage(err error) bool {
	return err != nil && (fault.Is(err, fault.Corrupt) || fault.KindOf(err) == fault.Internal && diagnosis(err) == fault.Corrupt)
}

// each checks groups one by one.
func (k *checking) each(ids []uint64) error {
	for _, id := range ids {
		err := k.between(id, id)
		var d *backend.Damage
		switch {
		case asDamage(err, &d):
			k.damaged(*d)
		case damage(err):
			k.damaged(backend.Damage{Kind: backend.KindGroup, ID: id, Problem: err.Error()})
		case err != nil:
			return err
		}
	}
	return nil
}

// between checks a range of groups. If it fails, nothing of the range is counted.
func (k *checking) between(first, last uint64) error {
	r, err := readGroups(k.c, first, last)
	if err != nil {
		return err
	}
	n := &k.report.Counts
	for i := range r.items {
		it := &r.items[i]
		if err := k.entity(backend.KindGroup, it.Group.ID, r.sums[i].stored, r.sums[i].rows); err != nil {
			return err
		}
		n.Groups++
		n.Keywords += uint64(len(it.Keywords))
		n.Negatives += uint64(len(it.Negatives))
		n.Ads += uint64(len(it.Ads))
	}
	return nil
}
