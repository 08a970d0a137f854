package strategy

import (
	"cmp"
	"math/bits"
	"slices"

	"adshard/balance/strategy/draft"
)

// targets is the number of the coolest shards, for each size of share, that are tried for
// a chunk.
const targets = 8

// move moves chunks from the hottest shards to the coolest ones, those with the most gain
// for their cost first (thesis 4.5.1, step 3). It ends when no shard is above the goal,
// no move gains, or the budget is used up.
func (i *iteration) move() {
	i.on = make([][]int, len(i.Shards))
	for k := range i.Parts {
		i.on[i.Parts[k].At] = append(i.on[i.Parts[k].At], k)
	}
	for from := i.giver(); from >= 0; from = i.giver() {
		if !slices.Contains(i.given, from) {
			i.given = append(i.given, from)
		}
		i.why[from] = i.moveOne(from, i.chunksOf(from))
	}
	for _, from := range i.given {
		i.launch(i.chunks[from])
	}
}

// giver returns the hottest shard that may still give something away, or -1 if there is
// none.
func (i *iteration) giver() int {
	from := -1
	for k := range i.Shards {
		n := &i.Shards[k]
		if i.why[k] != "" || n.Heat() <= i.goal || from >= 0 && n.Heat() <= i.Shards[from].Heat() {
			continue
		}
		if i.Hottest > 0 && len(i.given) >= i.Hottest && !slices.Contains(i.given, k) {
			continue
		}
		from = k
	}
	return from
}

// moveOne chooses the chunk of a shard with the most gain for its cost, and the shard to
// which it goes. If there is none, it returns why.
func (i *iteration) moveOne(from int, list []chunk) (why string) {
	cool := i.coolest(from)
	if len(cool) == 0 {
		return "there is no other active shard"
	}
	for {
		c := i.choose(from, list, cool)
		if c.piece == nil {
			return c.why
		}
		if ok, refusal := i.May(i.Parts[c.piece.part].ID, c.to); !ok {
			c.piece.refused, c.piece.why = append(c.piece.refused, c.to), refusal
			continue
		}
		i.take(c.piece, from, c.to)
		return ""
	}
}

// choice is a chunk and the shard to which it should go, or why there is no such chunk.
type choice struct {
	piece *chunk
	to    int
	ratio float64 // of gain to cost
	why   string
}

// choose returns the move with the most gain for its cost.
func (i *iteration) choose(from int, list []chunk, cool []int) (best choice) {
	best.why = "no move of one of its slices lowers the hotter of the two shards by as much as the least gain"
	for k := range list {
		p := &list[k]
		if p.to >= 0 {
			continue
		}
		to := i.target(p, cool)
		if to < 0 || i.gain(from, to, p.Load) < i.Gain*i.Mean {
			continue
		}
		if !i.Affords(p.Items, p.Weight) || !i.whole(p) && i.Shards[from].Slices+2 > i.SplitBelow {
			best.why = "the iteration's budget is used up, or the shard has too many slices to cut out more"
			continue
		}
		less := i.above(from, 0) - i.above(from, -p.Load)
		cost := i.Cost(p.Items, p.Weight) + i.onward(to, i.above(to, p.Load)) + perMove
		if ratio := less / cost; ratio > best.ratio {
			best.piece, best.to, best.ratio = p, to, ratio
		}
	}
	return best
}

// above returns how much load a shard would have above the goal if it got more.
func (i *iteration) above(shard int, more float64) float64 {
	n := &i.Shards[shard]
	return max(0, n.Load+more-i.goal*n.Share)
}

// onward returns the cost of moving this much load on from a shard, if the chunks with
// the most load for their cost move first.
func (i *iteration) onward(shard int, load float64) (cost float64) {
	if load <= 0 {
		return 0
	}
	if i.dense[shard] == nil {
		list := slices.Clone(i.chunksOf(shard))
		slices.SortStableFunc(list, func(a, b chunk) int {
			return cmp.Compare(b.Load*i.Cost(a.Items, a.Weight), a.Load*i.Cost(b.Items, b.Weight))
		})
		i.dense[shard] = list
	}
	for _, p := range i.dense[shard] {
		if load <= 0 {
			break
		}
		cost += i.Cost(p.Items, p.Weight)
		load -= p.Load
	}
	return cost
}

// chunksOf returns the chunks that may move from a shard. They are computed once.
func (i *iteration) chunksOf(shard int) []chunk {
	if i.chunks[shard] == nil {
		i.chunks[shard] = i.cutShard(shard)
	}
	return i.chunks[shard]
}

// perMove is the fixed cost of a move, as a share of all data.
const perMove = 1e-5

// target returns the shard for a chunk: the coolest one, or with Replication the one that
// is coolest with the chunk. It returns -1 if no shard has room or may take it.
func (i *iteration) target(p *chunk, cool []int) (best int) {
	best = -1
	least := 0.0
	for _, k := range cool {
		n := &i.Shards[k]
		if !n.Room(p.Weight) || slices.Contains(p.refused, k) {
			continue
		}
		if i.Replication == 0 {
			return k
		}
		if heat := (n.Load + p.Load) / n.Share; best < 0 || heat < least {
			best, least = k, heat
		}
	}
	return best
}

// gain returns how much cooler the hotter of two shards gets if load moves from one to
// the other.
func (i *iteration) gain(from, to int, load float64) float64 {
	a, b := &i.Shards[from], &i.Shards[to]
	return a.Heat() - max((a.Load-load)/a.Share, (b.Load+load)/b.Share)
}

// take decides that a chunk moves.
func (i *iteration) take(p *chunk, from, to int) {
	a, b := &i.Shards[from], &i.Shards[to]
	was, wasTo := i.OfMean(a.Heat()), i.OfMean(b.Heat())
	if i.whole(p) {
		a.Slices--
	} else {
		a.Slices++
	}
	i.Shift(from, to, p.Items, p.Weight, p.Load)
	p.to = to
	p.why = i.text(p, a, b, was, wasTo)
}

// coolest returns the shards with the least load for their share, the least first. With
// Replication it returns those of each size of share: with the chunk, a cool shard with
// few replicas may be hotter than a warmer one with more.
func (i *iteration) coolest(but int) (list []int) {
	less := func(a, b int) int {
		return cmp.Or(cmp.Compare(i.Shards[a].Heat(), i.Shards[b].Heat()), cmp.Compare(a, b))
	}
	var bySize [33][]int
	for k := range i.Shards {
		if k == but || !i.Shards[k].Active {
			continue
		}
		of := &bySize[0]
		if i.Replication > 0 {
			of = &bySize[bits.Len32(uint32(i.Shards[k].Share))]
		}
		at, _ := slices.BinarySearchFunc(*of, k, less)
		if at < targets {
			*of = slices.Insert(*of, at, k)
			*of = (*of)[:min(len(*of), targets)]
		}
	}
	for _, of := range bySize {
		list = append(list, of...)
	}
	slices.SortFunc(list, less)
	return list
}

// launch proposes the moves of a shard's chunks. Adjacent chunks that go to the same
// shard move as one slice, and slices are split between other chunks.
func (i *iteration) launch(list []chunk) {
	for begin := 0; begin < len(list); {
		end := begin + 1
		for end < len(list) && list[end].part == list[begin].part {
			end++
		}
		i.launchSlice(&i.Parts[list[begin].part], list[begin:end])
		begin = end
	}
}

func (i *iteration) launchSlice(part *draft.Part, list []chunk) {
	if !slices.ContainsFunc(list, func(p chunk) bool { return p.to >= 0 }) {
		return
	}
	part.Busy = true
	id := part.ID
	for begin := 0; begin < len(list); {
		run := list[begin]
		end := begin + 1
		for end < len(list) && list[end].to == run.to {
			run.hi = list[end].hi
			run.Items += list[end].Items
			run.Weight += list[end].Weight
			run.Load += list[end].Load
			end++
		}
		if end < len(list) {
			right, ok := i.Draft.Split(id, list[end].lo, "slice %d (%.3f x the mean load of a shard, %d ad groups) is split where a hot part of it ends, so that only that moves",
				part.ID, i.OfMean(part.Load), part.Items)
			if !ok {
				return
			}
			id, right = right, id
			i.launchRun(right, run)
		} else {
			i.launchRun(id, run)
		}
		begin = end
	}
}

func (i *iteration) launchRun(id uint64, run chunk) {
	if run.to < 0 {
		return
	}
	what := "slice"
	if run.Items == 1 {
		what = "the one item of slice"
	}
	i.Draft.Start(id, run.to, "%s %d, %s", what, id, run.why)
}
