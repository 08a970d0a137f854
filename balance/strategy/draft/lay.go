package draft

import (
	"fmt"

	"adshard/balance"
	"adshard/balance/load"
)

// Piece is a run of keys from Lo to the beginning of the next piece, and the shard to
// which it goes.
type Piece struct {
	Lo     balance.Key
	Weight uint64
	Shard  balance.ShardID
	Why    string
}

// Owners returns a piece for each owner with the weight of its items, in ascending
// order of keys.
func Owners(in balance.Input) []Piece {
	var list []Piece
	in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
		lo, _, _ := in.Order.OwnerOf(k)
		if n := len(list); n == 0 || list[n-1].Lo != lo {
			list = append(list, Piece{Lo: lo})
		}
		list[len(list)-1].Weight += uint64(w)
		return true
	})
	return list
}

// ShareOf returns the share of a shard, which is at least 1.
func ShareOf(in balance.Input, shard balance.ShardID) uint64 {
	return uint64(max(1, in.Limits[shard].Share))
}

// Elsewhere returns the weight of the items that are not where they should be.
func (b *Draft) Elsewhere(want []Piece) (weight uint64) {
	at, part := 0, 0
	b.In.Items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
		for at+1 < len(want) && want[at+1].Lo <= k {
			at++
		}
		for b.Parts[part].Hi < k {
			part++
		}
		if b.Shards[b.Parts[part].At].ID != want[at].Shard {
			weight += uint64(w)
		}
		return true
	})
	return weight
}

// EvenRuns returns one run of keys for each shard, with a weight in proportion to its
// share.
func EvenRuns(in balance.Input) []Piece {
	shards := in.Model.Shards()
	var total, shares uint64
	in.Items.Ascend(0, balance.MaxKey, func(_ balance.Key, w uint32) bool {
		total += uint64(w)
		return true
	})
	for _, sh := range shards {
		shares += ShareOf(in, sh.ID)
	}
	width := balance.MaxKey/balance.Key(len(shards)) + 1
	list := []Piece{{Shard: shards[0].ID, Why: "first run of keys"}}
	i, sum, upTo := 0, uint64(0), ShareOf(in, shards[0].ID)
	next := func(lo balance.Key) {
		i++
		upTo += ShareOf(in, shards[i].ID)
		list = append(list, Piece{Lo: lo, Shard: shards[i].ID, Why: fmt.Sprintf("run of keys for shard %d", shards[i].ID)})
	}
	in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
		for i+1 < len(shards) && sum*shares >= total*upTo && k > list[i].Lo {
			next(k)
		}
		sum += uint64(w)
		return i+1 < len(shards)
	})
	for i+1 < len(shards) { // there are fewer items than shards
		lo := max(list[i].Lo+1, width*balance.Key(i+1))
		if lo == 0 {
			break
		}
		next(lo)
	}
	return list
}

// LeftAsIs returns a reason why everything stays as it is.
func LeftAsIs(text string) []balance.Reason { return []balance.Reason{{Op: -1, Text: text}} }

// Lay turns pieces into operations. Each piece becomes a slice; if joined is set,
// neighbours on the same shard become one slice. A gap between pieces belongs to the
// piece before it.
func Lay(in balance.Input, list []Piece, joined bool) (balance.Proposal, error) {
	e := in.Model.Edit()
	var p balance.Proposal
	slice := in.Model.Slices()[0].ID
	last := balance.ShardID(0)
	for _, v := range list {
		if joined && v.Shard == last {
			continue
		}
		if last != 0 {
			right, err := e.Split(slice, v.Lo)
			if err != nil {
				return p, err
			}
			slice = right
		}
		if s, _ := e.Slice(slice); s.Shard != v.Shard {
			if err := e.Map(slice, v.Shard); err != nil {
				return p, err
			}
			p.Reasons = append(p.Reasons, balance.Reason{Op: len(e.Ops()) - 1, Text: v.Why})
		}
		last = v.Shard
	}
	p.Ops = e.Ops()
	model, err := e.Model()
	if err != nil {
		return p, err
	}
	p.Expected = load.EvennessOfWeights(model, in.Items, in.Limits)
	return p, nil
}

// HalfOf returns the key at which items with this total load are best cut in half, and
// the share of the load before that key.
func HalfOf(own []load.Item, load float64) (at balance.Key, left float64) {
	var sum, best float64
	for k, v := range own {
		if k > 0 && (at == 0 || abs(sum-load/2) < abs(best-load/2)) {
			at, best = v.Key, sum
		}
		sum += v.Load
	}
	if load > 0 {
		left = best / load
	}
	return at, left
}

func abs(x float64) float64 { return max(x, -x) }
