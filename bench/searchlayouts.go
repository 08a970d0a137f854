package bench

import (
	"fmt"
	"strings"

	"adshard/bench/layouts"
	"adshard/bench/layouts/inmemory"
	"adshard/bench/layouts/linked"
	"adshard/bench/layouts/mapped"
	"adshard/bench/layouts/pebbledb"
	"adshard/bench/layouts/rdb"
	"adshard/bench/layouts/served"
	"adshard/bench/peers"
)

// allLayouts returns the layouts that adbench search knows, in the order of
// its tables: first the thesis' layouts, then others.
func allLayouts() []layouts.Layout {
	all := append([]layouts.Layout{mapped.Layout()}, rdb.All()...)
	return append(all, pebbledb.Layout(), linked.RInK{}, linked.Stateful{}, linked.LInK{}, inmemory.Structs{}, served.Served{}, served.ServedTop{}, served.ServedExpanded{}, served.ServedPrepared{}, served.ServedMixed{}, inmemory.Floor{})
}

// allPeers returns the other systems.
func allPeers() []layouts.Layout { return peers.All() }

// names formats the layouts' names in lines.
func names(all []layouts.Layout) string {
	var b strings.Builder
	line := " "
	for _, l := range all {
		if len(line)+len(l.Name()) > 76 {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + l.Name()
	}
	return b.String() + line + "\n"
}

// choose returns the layouts that are named: by their full name in upper or
// lower case, by a unique prefix, or by "all" or "none".
func choose(flag, kind string, all []layouts.Layout, named []string) (out []layouts.Layout, err error) {
	for _, name := range named {
		switch name {
		case "all":
			return all, nil
		case "none", "":
			continue
		}
		l, ok := byName(all, name)
		if !ok {
			return nil, fmt.Errorf("%s: there is no %s %q; there are:\n%s", flag, kind, name, names(all))
		}
		out = append(out, l)
	}
	return out, nil
}

func byName(all []layouts.Layout, name string) (found layouts.Layout, ok bool) {
	begins := 0
	for _, l := range all {
		if strings.EqualFold(l.Name(), name) {
			return l, true
		}
		if strings.HasPrefix(strings.ToLower(l.Name()), strings.ToLower(name)) {
			found = l
			begins++
		}
	}
	return found, begins == 1
}
