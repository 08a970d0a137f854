package backend

// Entity is a kind of entity.
type Entity uint8

// The kinds of entities, from the root down.
const (
	EntityAdvertiser Entity = iota
	EntityCampaign
	EntityGroup
	EntityKeyword
	EntityNegative
	EntityAd
	Entities // how many there are
)

// String returns the kind's name, as JSON lines have it.
func (e Entity) String() string {
	return [...]string{"advertiser", "campaign", "group", "keyword", "negative", "ad"}[e]
}

// Effect is what a transaction did to an entity.
type Effect uint8

// The effects. Named: a write named the entity, which was there; unless another
// effect is reported too, it is left as it was.
const (
	Named Effect = iota
	Created
	Changed
	Removed
)

// Watcher takes what a transaction does: effect on the entity with this id. It
// must not use the transaction.
type Watcher func(entity Entity, id uint64, effect Effect)
