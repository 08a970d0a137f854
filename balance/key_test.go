package balance

import (
	"testing"

	"pgregory.net/rapid"
)

func TestKeysAreBijections(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		owner := uint64(rapid.Uint32().Draw(t, "owner"))
		item := uint64(rapid.Uint32().Draw(t, "item"))
		wide := rapid.Uint64().Draw(t, "wide")
		k, err := ByOwner.Key(owner, item)
		if err != nil || ByOwner.Item(k) != item {
			t.Fatalf("ByOwner: item %d has key %x, back %d, %v", item, k, ByOwner.Item(k), err)
		}
		if lo, hi, ok := ByOwner.Owner(owner); !ok || k < lo || k > hi {
			t.Fatalf("key %x outside of its owner's interval %x..%x", k, lo, hi)
		}
		k, err = ByHash.Key(owner, wide)
		if err != nil || ByHash.Item(k) != wide {
			t.Fatalf("ByHash: item %d has key %x, back %d, %v", wide, k, ByHash.Item(k), err)
		}
		k, err = ByID.Key(owner, wide)
		if err != nil || k != Key(wide) || ByID.Item(k) != wide {
			t.Fatalf("ByID: item %d has key %x, back %d, %v", wide, k, ByID.Item(k), err)
		}
	})
}

func TestWideIdsDoNotFitByOwner(t *testing.T) {
	if _, err := ByOwner.Key(1<<32, 1); err == nil {
		t.Fatal("an owner of 33 bits was taken")
	}
}
