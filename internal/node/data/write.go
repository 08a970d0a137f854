package data

import (
	"context"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
)

// writer makes the changes of one transaction.
type writer struct {
	tx     backend.Tx
	before *state // the state of all rows that are changed, before the transaction
	// removed and gone list the rows and keys that the transaction has removed.
	removed map[row]bool
	gone    map[Key]bool

	entity backend.Entity // the kind of entity of the operation under way
	seen   uint64         // the id of that kind that watch last saw
	made   bool           // whether that entity was created
}

// watch implements backend.Watcher.
func (w *writer) watch(entity backend.Entity, id uint64, effect backend.Effect) {
	if entity == w.entity && effect != backend.Removed {
		w.seen, w.made = id, w.made || effect == backend.Created
	}
}

// operation makes one change.
func (w *writer) operation(ctx context.Context, o *Operation) (done, error) {
	w.entity, w.seen, w.made = o.Type, 0, false
	if err := w.there(o); err != nil {
		return done{}, err
	}
	switch o.Verb {
	case Create:
		return w.create(ctx, o)
	case Update:
		return done{api.DataEffectUpdated, o.Key}, w.update(ctx, o)
	}
	if kind, ok := kindOf[o.Type]; ok {
		w.removed[row{kind, o.ID}] = true
	}
	w.gone[o.Key] = true
	return done{api.DataEffectRemoved, o.Key}, w.put(ctx, o, backend.Remove)
}

// there returns an error if an earlier operation of the batch removed the operation's entity or an
// owner of it: the operation would create it again.
func (w *writer) there(o *Operation) error {
	r, ok := o.row()
	if !ok {
		return nil
	}
	rows := []row{r}
	if g := w.before.groups[r.id]; r.kind == backend.KindGroup && g != nil {
		rows = append(rows, row{backend.KindCampaign, g.Group.CampaignID}, row{backend.KindAdvertiser, g.Group.AdvertiserID})
	}
	if c := w.before.campaigns[r.id]; r.kind == backend.KindCampaign && c != nil {
		rows = append(rows, row{backend.KindAdvertiser, c.AdvertiserID})
	}
	for _, r := range rows {
		if w.removed[r] {
			return fault.Newf(fault.Conflict, op, "an operation before it removes %v %d", r.kind, r.id)
		}
	}
	if w.gone[o.Key] {
		return fault.Newf(fault.Conflict, op, "an operation before it removes %v", o.Key)
	}
	return nil
}

// update changes an existing entity.
func (w *writer) update(ctx context.Context, o *Operation) error {
	if err := w.put(ctx, o, backend.Keep); err != nil {
		return err
	}
	if w.made { // its words or its content have changed since it was stored
		return fault.Newf(fault.Conflict, op, "%v is not known by what it has; remove it and create another", o.Key)
	}
	return nil
}

// put writes the settings of an operation, or a removal, to an existing entity. Errors:
// fault.NotFound, and an ETag that does not match.
func (w *writer) put(ctx context.Context, o *Operation, status backend.Status) error {
	it, err := w.before.item(o.Key)
	if err != nil {
		return err
	}
	if o.IfMatch != "" && o.IfMatch != it.Etag {
		return httpapi.PreconditionFailed("%v is not the one that If-Match means: its ETag is %s now; read it again", o.Key, it.Etag)
	}
	p := patches{status: status}
	if o.Settings != nil {
		p.Settings = *o.Settings
	}
	switch o.Type {
	case backend.EntityAdvertiser:
		return w.tx.UpdateAdvertiser(ctx, o.ID, p.advertiser())
	case backend.EntityCampaign:
		c := w.before.campaigns[o.ID]
		_, err = w.tx.Campaign(ctx, c.AdvertiserID, c.Name, p.campaign())
		return err
	case backend.EntityGroup:
		g := &w.before.groups[o.ID].Group
		_, err = w.tx.Group(ctx, g.CampaignID, g.Name, p.group())
		return err
	}
	return w.putHeld(ctx, o, p)
}

// putHeld does the work of put for entities within others.
func (w *writer) putHeld(ctx context.Context, o *Operation, p patches) error {
	if g := w.before.groups[o.Group]; g != nil {
		switch o.Type {
		case backend.EntityKeyword:
			k := byID(g.Keywords, o.ID, func(k *backend.Keyword) uint64 { return k.ID })
			return w.tx.Keyword(ctx, o.Group, p.keyword(k))
		case backend.EntityAd:
			a := byID(g.Ads, o.ID, func(a *backend.Ad) uint64 { return a.ID })
			return w.tx.Ad(ctx, o.Group, p.ad(a))
		}
	}
	list, _ := w.before.negatives(o.Key)
	return w.tx.Negative(ctx, w.negativeOwner(o), p.negative(byID(list, o.ID, func(n *backend.Negative) uint64 { return n.ID })))
}

func (w *writer) negativeOwner(o *Operation) backend.NegativeOwner {
	owner := backend.NegativeOwner{Advertiser: o.Advertiser, Campaign: o.Campaign, Group: o.Group}
	if g := w.before.groups[o.Group]; g != nil {
		owner.Campaign = g.Group.CampaignID
	}
	return owner
}

// create makes a new entity.
func (w *writer) create(ctx context.Context, o *Operation) (done, error) {
	key := o.Key
	var err error
	switch s := o.Settings; o.Type {
	case backend.EntityAdvertiser:
		if key.ID, err = w.tx.Advertiser(ctx, s.Name); err == nil && s.Advertiser != (backend.AdvertiserPatch{}) {
			err = w.tx.UpdateAdvertiser(ctx, key.ID, s.Advertiser)
		}
	case backend.EntityCampaign:
		key.ID, err = w.tx.Campaign(ctx, o.Advertiser, s.Name, s.Campaign)
		key.Advertiser = 0
	case backend.EntityGroup:
		key.ID, err = w.tx.Group(ctx, o.Campaign, s.Name, s.Group)
		key.Campaign = 0
	case backend.EntityKeyword:
		err = w.tx.Keyword(ctx, o.Group, s.Keyword)
		key.ID = w.seen
	case backend.EntityAd:
		err = w.tx.Ad(ctx, o.Group, s.Ad)
		key.ID = w.seen
	default:
		err = w.tx.Negative(ctx, w.negativeOwner(o), s.Negative)
		key.ID = w.seen
	}
	if err == nil && !w.made {
		err = fault.Newf(fault.Conflict, op, "there is one already: %v; change that one, or remove it first", key)
	}
	return done{api.DataEffectCreated, key}, err
}
