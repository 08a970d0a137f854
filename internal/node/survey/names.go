package survey

import (
	"fmt"
	"slices"
	"strings"

	"adshard/balance"
	"adshard/fault"
)

// op is the operation in errors: surveys answer people's questions to a balancer.
const op = "balancer: control"

// maxNames bounds the names in a message.
const maxNames = 20

// Named returns the shard with a name, or the shard of the slave with that name, or 0 for "".
// Errors: fault.NotFound with the names that exist.
func (m *Survey) Named(slave string) (balance.ShardID, error) {
	if slave == "" {
		return 0, nil
	}
	if sh, ok := m.In.Model.Named(slave); ok {
		return sh.ID, nil
	}
	if s, ok := m.In.Model.Slave(slave); ok && s.Shard != 0 {
		return s.Shard, nil
	}
	var names []string
	for _, sh := range m.In.Model.Shards() {
		names = append(names, sh.Name)
	}
	return 0, fault.Newf(fault.NotFound, op, "there is no slave %q; there %s", slave, listed(names))
}

// listed writes names for a message: "is a" or "are a, b and c".
func listed(names []string) string {
	slices.Sort(names)
	more := ""
	if n := len(names); n > maxNames {
		names, more = names[:maxNames], fmt.Sprintf(" and %d more; `adshard slaves list` shows them", n-maxNames)
	}
	switch n := len(names); {
	case n == 0:
		return "are none"
	case n == 1:
		return "is " + names[0]
	case more == "":
		return "are " + strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return "are " + strings.Join(names, ", ") + more
}

// Nearest writes the numbers of the nearest slices.
func (m *Survey) Nearest(slice uint64) string {
	var below, above uint64
	for _, s := range m.In.Model.Slices() {
		switch {
		case s.ID < slice && s.ID > below:
			below = s.ID
		case s.ID > slice && (above == 0 || s.ID < above):
			above = s.ID
		}
	}
	near := fmt.Sprintf("numbers are %d and %d", below, above)
	if below == 0 || above == 0 {
		near = fmt.Sprintf("number is %d", max(below, above))
	}
	return fmt.Sprintf("the nearest %s; `adshard balance slices` lists them", near)
}
