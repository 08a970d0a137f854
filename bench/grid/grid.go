package grid

import (
	"fmt"
	"strconv"
	"strings"

	"adshard/bench/cluster"
)

// Grid is a number of shards with a number of replicas each.
type Grid struct{ Shards, Replicas int }

// Slaves is the number of slaves.
func (g Grid) Slaves() int { return g.Shards * g.Replicas }

// String returns the grid in the form that Parse reads.
func (g Grid) String() string { return fmt.Sprintf("%dx%d", g.Shards, g.Replicas) }

// Parse reads SHARDSxREPLICAS.
func Parse(text string) (g Grid, err error) {
	shards, replicas, ok := strings.Cut(text, "x")
	if ok {
		if g.Shards, err = strconv.Atoi(shards); err == nil {
			g.Replicas, err = strconv.Atoi(replicas)
		}
	}
	if !ok || err != nil || g.Shards < 1 || g.Replicas < 1 || g.Slaves() > cluster.MaxSlaves {
		return Grid{}, fmt.Errorf("%q is not a grid: write SHARDSxREPLICAS, for example 2x2, with %d slaves at most", text, cluster.MaxSlaves)
	}
	return g, nil
}
