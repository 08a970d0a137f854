package mapper_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"

	"adshard/balance"
	"adshard/balance/delivery"
)

func describe(b delivery.Bucket[content]) string {
	out := fmt.Sprintf("bucket %s .. %s", at(b.From), at(b.To))
	if b.Reset {
		out = fmt.Sprintf("bucket reset .. %s", at(b.To))
	}
	if b.Table != nil {
		out += fmt.Sprintf(", table of view %d", b.Table.View)
		if b.Table.Least > 0 {
			out += fmt.Sprintf(" down to %d", b.Table.Least)
		}
		for _, h := range b.Table.Slices {
			out += fmt.Sprintf(" [%s %s]", interval(h.Lo, h.Hi), Views(h))
		}
	}
	for _, v := range b.Cleared {
		out += fmt.Sprintf(", clear %s", interval(v.Lo, v.Hi))
	}
	out += "\n"
	for _, k := range slices.Sorted(maps.Keys(b.Payload.items)) {
		out += fmt.Sprintf("  %s at %d\n", name(k), b.Payload.items[k])
	}
	for _, k := range b.Payload.deleted {
		out += fmt.Sprintf("  %s is gone\n", name(k))
	}
	parents := slices.SortedFunc(maps.Keys(b.Payload.parents), func(a, b balance.Parent) int { return int(a.ID) - int(b.ID) })
	for _, p := range parents {
		out += fmt.Sprintf("  parent %d at %d\n", p.ID/step, b.Payload.parents[p])
	}
	return out
}

// at formats a position, with the offset of a filling as the last item
// delivered.
func at(p balance.Position) string {
	out := fmt.Sprintf("%d/%d/%d", p.Epoch, p.Clock, p.Quantum)
	switch p.Offset {
	case 0:
		return out + "/0"
	case 1:
		return out + "/none"
	}
	return out + "/" + name(balance.Key(p.Offset-1))
}

func Views(h balance.Held) string {
	switch {
	case h.State == balance.Filling:
		return "filling"
	case h.State == balance.Residue:
		return "residue"
	case h.From == 0:
		return "held"
	case h.Until != 0:
		return fmt.Sprintf("served in the views %d to %d", h.From, h.Until)
	}
	return fmt.Sprintf("served from view %d", h.From)
}

// step is the distance between owners in the upper half of the ring's keys.
const step = 0x10000000

// key parses owner.item.
func key(word string) balance.Key {
	o, i, _ := strings.Cut(word, ".")
	a, err := strconv.ParseUint(o, 10, 8)
	b, err2 := strconv.ParseUint(i, 10, 32)
	if err := errors.Join(err, err2); err != nil {
		panic(err)
	}
	return balance.Key(a*step<<32 | b)
}

func name(k balance.Key) string { return fmt.Sprintf("%d.%d", owner(k)/step, uint32(k)) }

// interval formats an interval of keys, with owners where it begins or ends
// with one.
func interval(lo, hi balance.Key) string {
	from, to := "start", "end"
	if lo > 1 { // 0 is not an item
		from = name(lo)
	}
	if hi != balance.MaxKey {
		to = "before " + name(hi+1)
	}
	return from + " to " + to
}

func entries(list []delivery.Entry) (out string) {
	for _, e := range list {
		if e.Key == 0 {
			out += fmt.Sprintf(" parent %d", e.Parent.ID/step)
		} else {
			out += " " + name(e.Key)
		}
	}
	return out
}

func keys(d *datadriven.TestData) (list []balance.Key) {
	for _, a := range d.CmdArgs {
		list = append(list, key(a.Key))
	}
	return list
}

func number(d *datadriven.TestData, arg string, otherwise int) int {
	for _, a := range d.CmdArgs {
		if a.Key == arg {
			n, err := strconv.Atoi(a.Vals[0])
			if err != nil {
				panic(err)
			}
			return n
		}
	}
	return otherwise
}
