package data

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// Request is a change as a client asks for it.
type Request struct {
	Operations []*Operation
	// Asked is all that was asked, with which a repetition must agree.
	Asked []byte
	// Caller and Key name the request; Key "": it has no name, and is not known again.
	Caller, Key string
	// Wait is how long to wait for the slaves; 0 means not at all.
	Wait time.Duration
}

// done is what an operation did.
type done struct {
	Effect api.DataEffect `json:"effect"`
	Key    Key            `json:"key"`
}

// receipt is what is noted of a request.
type receipt struct {
	Asked string `json:"asked"` // its hash
	Done  []done `json:"done"`
}

// Change makes the changes of a request in one transaction, or none. Errors: fault.NotFound for what is
// not there, fault.Conflict for what is there already, for an ETag that is another one (answered 412),
// and for a key that names another request; those of the database.
func (s *Service) Change(ctx context.Context, r *Request) (*api.DataChanges, error) {
	all, replayed, err := s.once(ctx, r)
	if err != nil {
		return nil, err
	}
	out, at, err := s.answer(ctx, all)
	if err != nil {
		return nil, fault.Newf(fault.KindOf(err), op, "the change is durable, but cannot be read back: %w", err)
	}
	out.Replayed = replayed
	if r.Wait > 0 {
		ctx, cancel := context.WithTimeout(ctx, r.Wait)
		defer cancel()
		served := s.served(ctx, at) == nil
		out.Served = &served
	}
	return out, nil
}

// once makes the changes unless the request was made before.
func (s *Service) once(ctx context.Context, r *Request) (all []done, replayed bool, err error) {
	if err := s.writers.take(ctx); err != nil {
		return nil, false, err
	}
	defer s.writers.leave()
	if all, err = s.replay(ctx, r); all != nil || err != nil {
		return all, true, err
	}
	if err = s.checkPlaces(ctx, r); err != nil {
		return nil, false, err
	}
	all, replayed, err = s.write(ctx, r)
	if err != nil { // its twin may have been faster
		if before, e := s.replay(ctx, r); before != nil && e == nil {
			return before, true, nil
		}
	}
	return all, replayed, err
}

// checkPlaces refuses a request that names a place which is not in the table.
func (s *Service) checkPlaces(ctx context.Context, r *Request) error {
	for i, o := range r.Operations {
		if o.Settings == nil {
			continue
		}
		err := o.Settings.CheckPlaces(ctx, s.db)
		if err != nil && len(r.Operations) > 1 {
			err = at(i, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// name is the key of the request's receipt: callers have names of their own.
func (r *Request) name() string {
	sum := sha256.Sum256([]byte(r.Caller + "\n" + r.Key))
	return hex.EncodeToString(sum[:])
}

func (r *Request) hash() string {
	sum := sha256.Sum256(r.Asked)
	return hex.EncodeToString(sum[:])
}

// replay returns what the request did when it was made before, or nil if it was not.
// Errors: fault.Conflict when another request had its key.
func (s *Service) replay(ctx context.Context, r *Request) ([]done, error) {
	if r.Key == "" {
		return nil, nil
	}
	noted, err := backend.FindReceipt(ctx, s.db, r.name(), s.now())
	if noted == nil || err != nil {
		return nil, err
	}
	var before receipt
	if err := json.Unmarshal(noted, &before); err != nil {
		return nil, fault.Newf(fault.Corrupt, op, "the receipt of the request cannot be read: %w", err)
	}
	if before.Asked != r.hash() {
		return nil, fault.Newf(fault.Conflict, op, "another request had this Idempotency-Key; give each request one of its own")
	}
	return before.Done, nil
}

// write makes the changes, unless it finds the request's receipt when all that it names is locked: of
// two that are the same, the second waits there for the first.
func (s *Service) write(ctx context.Context, r *Request) (all []done, replayed bool, err error) {
	tx, err := s.db.Begin(ctx)
	if err != nil {
		return nil, false, err
	}
	defer tx.Rollback()
	rows := rowsOf(r.Operations)
	for _, row := range rows {
		if err := tx.Lock(ctx, row.kind, row.id); err != nil {
			return nil, false, err
		}
	}
	if all, err = s.replay(ctx, r); all != nil || err != nil {
		return all, true, err
	}
	before, err := s.open(ctx)
	if err != nil {
		return nil, false, err
	}
	err = before.load(ctx, rows)
	if e := before.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, false, err
	}
	w := writer{tx: tx, before: before, removed: map[row]bool{}, gone: map[Key]bool{}}
	tx.Watch(w.watch)
	for i, o := range r.Operations {
		d, err := w.operation(ctx, o)
		if err != nil && len(r.Operations) > 1 {
			err = at(i, err)
		}
		if err != nil {
			return nil, false, err
		}
		all = append(all, d)
	}
	if r.Key != "" {
		noted, err := json.Marshal(receipt{Asked: r.hash(), Done: all})
		if err == nil {
			err = tx.Receipt(ctx, r.name(), noted, s.now())
		}
		if err != nil {
			return nil, false, err
		}
	}
	return all, false, tx.Commit(ctx)
}

// rowsOf returns the rows that the operations change, or add to, in one order for all
// transactions, so that two do not wait for each other.
func rowsOf(list []*Operation) (rows []row) {
	for _, o := range list {
		if r, ok := o.row(); ok {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id)) })
	return slices.Compact(rows)
}

// row returns the row that an operation changes or adds to; not ok: it adds an advertiser.
func (o *Operation) row() (r row, ok bool) {
	if o.Verb == Create && o.Type == backend.EntityAdvertiser {
		return row{}, false
	}
	return o.Key.row(), true
}

// answer reads back what was changed, and returns a clock that includes it.
func (s *Service) answer(ctx context.Context, all []done) (*api.DataChanges, uint64, error) {
	n, err := s.open(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer n.Close()
	var rows []row
	for _, d := range all {
		rows = append(rows, d.Key.row())
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id)) })
	if err := n.load(ctx, slices.Compact(rows)); err != nil {
		return nil, 0, err
	}
	out := &api.DataChanges{MinClock: position(n.Position()), Changes: []api.DataChange{}}
	for _, d := range all {
		c := api.DataChange{Effect: d.Effect, Type: api.ItemType(d.Key.Type.String()), ID: d.Key.ID}
		if d.Effect != api.DataEffectRemoved {
			c.Item, _ = n.item(d.Key) // nil: it has been removed since
		}
		out.Changes = append(out.Changes, c)
	}
	return out, n.Position().Clock, nil
}
