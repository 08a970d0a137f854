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
	Entities // the number of kinds
)

// String returns the kind's name as used in JSON lines.
func (e Entity) String() string {
	return [...]string{"advertiser", "campaign", "group", "keyword", "negative", "ad"}[e]
}

// Effect is what a transaction did to an entity.
type Effect uint8

// The effects. Named says that a write named an existing entity; unless another effect is reported, too, the entity
// is unchanged.
const (
	Named Effect = iota
	Created
	Changed
	Removed
)

// Watcher is called with each effect of a transaction and the id of the entity. It must not use the transaction.
type Watcher func(entity Entity, id uint64, effect Effect)
