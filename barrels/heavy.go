package barrels

import (
	"cmp"
	"slices"

	"adshard/schema/pb"
)

// heavy counts the most expensive of many things in bounded memory, lossily:
// when there are too many, the cheaper half is forgotten. What was forgotten
// and comes again counts from 0. The zero value counts nothing yet.
type heavy struct{ costs map[uint64]*cost }

func (h *heavy) add(of uint64, c cost) {
	if e := h.costs[of]; e != nil {
		e.add(c)
		return
	}
	if h.costs == nil {
		h.costs = make(map[uint64]*cost)
	}
	if len(h.costs) >= loadHeavy {
		for _, e := range h.most(loadHeavy)[loadHeavy/2:] {
			delete(h.costs, e.of)
		}
	}
	h.costs[of] = &c
}

// heavyCost is a thing with its cost.
type heavyCost struct {
	of uint64
	*cost
}

// most returns the n most expensive: the most looked at, equal ones by number.
func (h *heavy) most(n int) []heavyCost {
	list := make([]heavyCost, 0, len(h.costs))
	for of, c := range h.costs {
		list = append(list, heavyCost{of, c})
	}
	slices.SortFunc(list, func(a, b heavyCost) int {
		return cmp.Or(cmp.Compare(b.looked, a.looked), cmp.Compare(a.of, b.of))
	})
	return list[:min(n, len(list))]
}

// sliceLoads adds up what several tables and views say of the same generation
// of a slice.
func sliceLoads(bySlice map[*served][]cost) []*pb.SliceLoad {
	type generation struct{ slice, generation uint64 }
	sums := make(map[generation]*cost)
	for v, costs := range bySlice {
		for i := range costs {
			if costs[i].looked == 0 {
				continue
			}
			g := generation{v.slices[i].Id, v.slices[i].Generation}
			if sums[g] == nil {
				sums[g] = new(cost)
			}
			sums[g].add(costs[i])
		}
	}
	out := make([]*pb.SliceLoad, 0, len(sums))
	for g, c := range sums {
		out = append(out, &pb.SliceLoad{Slice: g.slice, Generation: g.generation, Cost: c.pb()})
	}
	slices.SortFunc(out, func(a, b *pb.SliceLoad) int {
		return cmp.Or(cmp.Compare(a.Slice, b.Slice), cmp.Compare(a.Generation, b.Generation))
	})
	return out
}
