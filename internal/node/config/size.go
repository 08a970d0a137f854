package config

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Size is a number of bytes, written as a number with a unit, such as 512MiB or
// 4GiB, or as a plain number of bytes.
type Size uint64

var units = []struct {
	name string
	size Size
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// String implements fmt.Stringer. It uses the largest unit that gives a whole number.
func (s Size) String() string {
	for _, u := range units {
		if s >= u.size && s%u.size == 0 {
			return fmt.Sprint(uint64(s/u.size), u.name)
		}
	}
	if s >= 10<<20 {
		return (s + 1<<20 - 1).Rounded().String()
	}
	return strconv.FormatUint(uint64(s), 10)
}

// Rounded returns the size rounded down to whole MiB.
func (s Size) Rounded() Size { return s >> 20 << 20 }

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *Size) UnmarshalYAML(n *yaml.Node) error {
	text, unit := strings.TrimSpace(n.Value), Size(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = strings.TrimSpace(rest), u.size
			break
		}
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil || v > (1<<50)/uint64(unit) {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %q is not a size: write 512MiB or 4GiB", n.Line, n.Value)}}
	}
	*s = Size(v) * unit
	return nil
}

// MarshalYAML implements yaml.Marshaler.
func (s Size) MarshalYAML() (any, error) {
	for _, u := range units {
		if s >= u.size && s%u.size == 0 {
			return s.String(), nil
		}
	}
	return uint64(s), nil
}
