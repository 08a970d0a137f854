package sqlite

import (
	"context"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/fault"
)

// sumWriter maintains the sums of the entities that a write transaction changes. A change of a row adds the hash of
// the new row and subtracts the hash of the old row as it was read, so that a row that was already damaged can still
// be found.
type sumWriter struct {
	c       *conn
	h       hasher
	entries map[entity]*summing
	order   []entity
	last    entity // the entity that was touched last, with its entry
	entry   *summing
}

type entity struct {
	kind backend.Kind
	id   uint64
}

// summing is the sum that the transaction leaves an entity.
type summing struct {
	sum sum
	// resum is set if the database had no sum of the previous version, so that all rows are read again at the end.
	resum bool
}

// tables has the tables with sums, by kind.
var tables = [...]string{backend.KindAdvertiser: "advertiser", backend.KindCampaign: "campaign", backend.KindGroup: "ad_group"}

func newSumWriter(c *conn) *sumWriter {
	return &sumWriter{c: c, entries: make(map[entity]*summing)}
}

func (w *sumWriter) put(e entity, s *summing) *summing {
	w.entries[e] = s
	w.order = append(w.order, e)
	w.last, w.entry = e, s
	return s
}

// created notes that the transaction has created an entity.
func (w *sumWriter) created(kind backend.Kind, id uint64, rows sum) {
	w.put(entity{kind, id}, &summing{sum: rows})
}

// touch returns the sum of an entity that is about to change. It must be called
// before the first change.
func (w *sumWriter) touch(kind backend.Kind, id uint64) (*summing, error) {
	e := entity{kind, id}
	if w.entry != nil && w.last == e {
		return w.entry, nil
	}
	if s := w.entries[e]; s != nil {
		w.last, w.entry = e, s
		return s, nil
	}
	var was stored
	err := w.c.query("SELECT sum, summed, version FROM "+tables[kind]+" WHERE id = ?", func(st *zs.Stmt) error {
		was = scanStored(st, 0)
		return nil
	}, id)
	if err != nil {
		return nil, err
	}
	// The sum of a damaged entity stays wrong, so that the damage can still be found.
	resum, d, err := w.c.current(kind, id, was)
	if err != nil {
		return nil, err
	}
	return w.put(e, &summing{sum: was.sum, resum: resum && d == nil}), nil
}

// change adds a difference to the sum of an entity.
func (w *sumWriter) change(kind backend.Kind, id uint64, by sum) error {
	s, err := w.touch(kind, id)
	if err == nil {
		s.sum += by
	}
	return err
}

// flush writes the sums. Everything else must have been written before.
func (w *sumWriter) flush() error {
	for _, e := range w.order {
		var err error
		if s := w.entries[e]; s.resum {
			err = w.resum(e.kind, []uint64{e.id})
		} else {
			err = w.write(e, s.sum)
		}
		if err != nil {
			return err
		}
	}
	clear(w.entries)
	w.order, w.entry = w.order[:0], nil
	return nil
}

func (w *sumWriter) write(e entity, s sum) error {
	return w.c.exec("UPDATE "+tables[e.kind]+" SET sum = ?, summed = version WHERE id = ?", uint64(s), e.id)
}

// resum computes the sums of entities again from their rows, in ascending id order.
func (w *sumWriter) resum(kind backend.Kind, ids []uint64) error {
	switch {
	case len(ids) == 0: // nil would mean all
		return nil
	case kind == backend.KindAdvertiser:
		r, err := readAdvertisers(w.c, ids)
		for i := 0; err == nil && i < len(r.list); i++ {
			err = w.write(entity{kind, r.list[i].ID}, r.rows[i])
		}
		return err
	case kind == backend.KindCampaign:
		r, err := readCampaigns(w.c, ids)
		for i := 0; err == nil && i < len(r.list); i++ {
			err = w.write(entity{kind, r.list[i].ID}, r.rows[i])
		}
		return err
	}
	for len(ids) > 0 {
		run := denseRun(ids)
		r, err := readGroups(w.c, ids[0], ids[run-1])
		for i := 0; err == nil && i < len(r.items); i++ {
			err = w.write(entity{kind, r.items[i].Group.ID}, r.sums[i].rows)
		}
		if err != nil {
			return err
		}
		ids = ids[run:]
	}
	return nil
}

// languages runs a change of a campaign's languages. It gives the campaign's groups new versions, but changes none of
// their rows, so their sums stay right.
func (w *sumWriter) languages(campaign uint64, change func() error) error {
	err := w.c.exec("UPDATE ad_group SET summed = 9223372036854775807 WHERE campaign_id = ? AND summed = version", campaign)
	if err == nil {
		err = change()
	}
	if err == nil {
		err = w.c.exec("UPDATE ad_group SET summed = version WHERE campaign_id = ? AND summed = 9223372036854775807", campaign)
	}
	return err
}

// changedByOthers returns the ids of the entities of a kind whose last change was made by another program, at a clock
// above `after` and at most upTo.
func (c *conn) changedByOthers(kind backend.Kind, after, upTo uint64) (ids []uint64, err error) {
	err = c.query("SELECT e.id FROM change_log l JOIN "+tables[kind]+" e ON e.id = l.id WHERE l.clock > ? AND l.clock <= ? AND l.kind = ?"+
		" AND e.version = l.clock AND e.summed < e.version ORDER BY e.id", func(st *zs.Stmt) error {
		ids = append(ids, uint64(st.ColumnInt64(0)))
		return nil
	}, after, upTo, int64(kind))
	return ids, err
}

// sumOthers updates the sums of entities that other programs have changed, up to the end of the log. It returns the
// clock of that end.
func (s *Store) sumOthers(ctx context.Context) (end uint64, err error) {
	var lists [backend.KindGroup + 1][]uint64
	var f *file
	some := false
	err = s.reading(ctx, "sum", func(c *conn) error {
		p, err := c.newest()
		f, end = c.of, p.Clock
		for kind := backend.KindAdvertiser; err == nil && kind <= backend.KindGroup; kind++ {
			lists[kind], err = c.changedByOthers(kind, f.summedTo.Load(), end)
			some = some || len(lists[kind]) > 0
		}
		return err
	})
	if err == nil && some {
		err = s.write(ctx, "sum", func(c *conn) error {
			w := newSumWriter(c)
			for kind, ids := range lists {
				if err := w.resum(backend.Kind(kind), ids); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err == nil {
		f.summedTo.Store(end)
	}
	return end, err
}

// sumBatch is the number of entities that are summed in one transaction.
const sumBatch = 2000

// sumOlder computes the sums of the entities of a database that has no sums yet, or whose log was deleted by hand.
func (s *Store) sumOlder(ctx context.Context) error {
	var unsummed bool
	err := s.read(ctx, "open", func(c *conn) error {
		log, err := c.state()
		unsummed = log.unsummed
		return err
	})
	for kind := backend.KindAdvertiser; unsummed && err == nil && kind <= backend.KindGroup; kind++ {
		more := true
		for last := uint64(0); more && err == nil; {
			err = s.write(ctx, "sum", func(c *conn) error {
				var err error
				last, more, err = newSumWriter(c).older(kind, last)
				return err
			})
		}
	}
	if unsummed && err == nil {
		err = s.write(ctx, "sum", func(c *conn) error {
			return c.exec(`UPDATE state SET unsummed = 0 WHERE NOT EXISTS (
  SELECT 1 FROM advertiser WHERE sum = ?1 AND summed = version UNION ALL SELECT 1 FROM campaign WHERE sum = ?1 AND summed = version
  UNION ALL SELECT 1 FROM ad_group WHERE sum = ?1 AND summed = version)`, uint64(unsummedSum))
		})
	}
	if fault.Is(err, fault.Locked) || fault.Is(err, fault.Corrupt) {
		return nil // the next process that opens the database continues; damage is found when it is read
	}
	return err
}

// older computes the sums of the next unsummed entities of a kind, with ids above `last`. It returns the last id and
// whether there may be more.
func (w *sumWriter) older(kind backend.Kind, last uint64) (uint64, bool, error) {
	var ids []uint64
	err := w.c.query("SELECT id FROM "+tables[kind]+" WHERE id > ? AND sum = ? AND summed = version ORDER BY id LIMIT ?", func(st *zs.Stmt) error {
		ids = append(ids, uint64(st.ColumnInt64(0)))
		return nil
	}, last, uint64(unsummedSum), int64(sumBatch))
	if err != nil || len(ids) == 0 {
		return last, false, err
	}
	return ids[len(ids)-1], len(ids) == sumBatch, w.resum(kind, ids)
}
