package balancer

import (
	"fmt"
	"slices"
	"strings"

	"adshard/balance"
	"adshard/fault"
)

// maxNames bounds the names in a message.
const maxNames = 20

// noPlan is the error of a question that there is no model for.
func (c control) noPlan() error {
	return fault.Newf(fault.Unavailable, opControl, "there is no plan yet: %s", c.mapper.Waiting())
}

// named returns the node of a name; 0 for no name. Errors: fault.NotFound with
// the names that there are.
func (m *measured) named(slave string) (balance.NodeID, error) {
	if slave == "" {
		return 0, nil
	}
	if n, ok := m.in.Model.Named(slave); ok {
		return n.ID, nil
	}
	var names []string
	for _, n := range m.in.Model.Nodes() {
		names = append(names, n.Name)
	}
	return 0, fault.Newf(fault.NotFound, opControl, "there is no slave %q; there %s", slave, listed(names))
}

// listed writes names for a message: "is a", "are a, b and c".
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

// find returns the place of a slice. Errors: fault.NotFound with what became of
// it, if that is known, and with the nearest numbers. The caller holds b.mu.
func (c control) find(m *measured, slice uint64) (int, error) {
	if i, ok := m.slice(slice); ok {
		return i, nil
	}
	_, was := c.mapper.Why(c.now(), slice)
	if was == nil {
		was = c.noPlan()
	}
	return 0, fault.Newf(fault.NotFound, opControl, "%s; %s", causeOf(was), m.nearest(slice))
}

// nearest names the slices with the nearest numbers.
func (m *measured) nearest(slice uint64) string {
	var below, above uint64
	for _, s := range m.in.Model.Slices() {
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
