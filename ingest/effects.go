package ingest

import (
	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"adshard/backend"
)

// EffectCounts counts the effects of an import on the entities of one kind, each once.
type EffectCounts struct {
	Created int64 `json:"created"`
	Changed int64 `json:"changed"`
	Removed int64 `json:"removed"`
	Left    int64 `json:"left"` // named by the files, unchanged
}

// effectSets are the entities that transactions affected, by kind and id. They take
// a few bits each.
type effectSets [backend.Entities]struct {
	named, created, changed, removed roaring64.Bitmap
}

// watch is a backend.Watcher.
func (t *effectSets) watch(entity backend.Entity, id uint64, effect backend.Effect) {
	of := &t[entity]
	switch effect {
	case backend.Named:
		of.named.Add(id)
	case backend.Created:
		of.created.Add(id)
	case backend.Changed:
		of.changed.Add(id)
	case backend.Removed:
		if !of.created.CheckedRemove(id) {
			of.removed.Add(id)
		}
		of.named.Remove(id)
		of.changed.Remove(id)
	}
}

// add adds the effects of a later transaction.
func (t *effectSets) add(later *effectSets) {
	for entity := range t {
		of, more := &t[entity], &later[entity]
		old := roaring64.AndNot(&more.removed, &of.created) // the others were made by this import
		of.created.AndNot(&more.removed)
		of.removed.Or(old)
		of.named.AndNot(&more.removed)
		of.changed.AndNot(&more.removed)
		of.created.Or(&more.created)
		of.changed.Or(&more.changed)
		of.named.Or(&more.named)
	}
}

// counts returns the summary by kind of entity.
func (t *effectSets) counts() (list [backend.Entities]EffectCounts) {
	for entity := range t {
		of := &t[entity]
		changed := roaring64.AndNot(&of.changed, &of.created)
		left := roaring64.AndNot(&of.named, &of.created)
		left.AndNot(changed)
		list[entity] = EffectCounts{Created: int64(of.created.GetCardinality()), Changed: int64(changed.GetCardinality()),
			Removed: int64(of.removed.GetCardinality()), Left: int64(left.GetCardinality())}
	}
	return list
}
