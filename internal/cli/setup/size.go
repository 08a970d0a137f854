package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"adshard/fault"
	"adshard/internal/cli/cmdline"
	"adshard/internal/node/config"
	"adshard/internal/sizing"
)

// sizeFlags are the flags of `adshard size`.
type sizeFlags struct {
	keywords        []uint
	qps             []float64
	memory, figures string
	p99             time.Duration
	cores           int
	json            bool
}

// SizeCommand returns the command that computes how many machines a cluster needs.
func SizeCommand(s cmdline.Streams) *cobra.Command {
	var f sizeFlags
	c := &cobra.Command{
		Use:   "size --keywords N --qps Q --memory SIZE --p99 TIME",
		Short: "Compute how many machines a cluster needs, as shards and replicas",
		Long: `Computes the cheapest grid of shards and replicas for so many keywords and queries: the
one with the fewest machines that answers 99 of 100 queries in time even while one
machine is down. Each machine runs one slave and one master. Shows what the grid has
left, and what the cheaper ones lack.

The figures that it computes with were measured on a reference machine; --cores are
cores like those of that machine. Measure your own with deploy/grid.sh and pass its file
as --figures. docs/sizing.md explains the result, docs/decisions/018-size.md the model.

Several numbers of keywords or queries, separated by commas, give a table.`,
		Example: `  adshard size --keywords 50000000 --qps 2000 --memory 32GiB --p99 20ms
  adshard size --keywords 1000000,100000000 --qps 500,5000 --memory 64GiB --cores 8 --p99 20ms
  adshard size --keywords 50000000 --qps 2000 --memory 32GiB --p99 20ms --json | jq .grid`,
		Args: cmdline.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(s) },
	}
	flags := c.Flags()
	flags.UintSliceVar(&f.keywords, "keywords", nil, "keywords of all advertisers (required)")
	flags.Float64SliceVar(&f.qps, "qps", nil, "queries a second at the busiest time (required)")
	for _, name := range []string{"keywords", "qps"} {
		flags.Lookup(name).DefValue = "" // not "[]", since they are required
	}
	flags.StringVar(&f.memory, "memory", "", "memory of one machine, such as 32GiB (required)")
	flags.DurationVar(&f.p99, "p99", 0, "the time within which 99 of 100 queries are to be answered (required)")
	flags.IntVar(&f.cores, "cores", 4, "cores of one machine")
	flags.StringVar(&f.figures, "figures", "", "file of figures of your own machine; without it those of a reference machine")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func (f *sizeFlags) run(s cmdline.Streams) error {
	needs, err := f.needs()
	if err != nil {
		return err
	}
	figures, err := f.read()
	if err != nil {
		return err
	}
	plans, faults := make([]*sizing.Plan, len(needs)), make([]error, len(needs))
	for i := range needs {
		plans[i], faults[i] = figures.Cheapest(needs[i])
		if faults[i] != nil && (len(needs) == 1 || !fault.Is(faults[i], fault.NotFound)) {
			return faults[i]
		}
	}
	if f.json {
		return f.writeJSON(s.Out, figures, needs, plans, faults)
	}
	if len(needs) == 1 {
		return showSize(s.Out, figures, &needs[0], plans[0])
	}
	return showSizes(s.Out, figures, needs, plans, faults)
}

// needs returns the needs that the flags describe, one for each number of keywords and of queries.
func (f *sizeFlags) needs() (list []sizing.Need, err error) {
	switch {
	case len(f.keywords) == 0:
		return nil, cmdline.WrongUse("--keywords is missing: how many keywords do all advertisers have?")
	case len(f.qps) == 0:
		return nil, cmdline.WrongUse("--qps is missing: how many queries come in a second, at the busiest time?")
	case f.memory == "":
		return nil, cmdline.WrongUse("--memory is missing: how much memory has one machine? For example 32GiB")
	case f.p99 == 0:
		return nil, cmdline.WrongUse("--p99 is missing: within which time are 99 of 100 queries to be answered? For example 20ms")
	}
	var memory config.Size
	if err := config.Parse([]byte(f.memory), &memory); err != nil {
		return nil, cmdline.WrongUse("--memory %s: write a size such as 512MiB or 32GiB", f.memory)
	}
	for _, keywords := range f.keywords {
		for _, qps := range f.qps {
			n := sizing.Need{Keywords: uint64(keywords), QPS: qps, P99: f.p99, Memory: uint64(memory), Cores: f.cores}
			if err := n.Validate(); err != nil {
				return nil, cmdline.Usage(err)
			}
			list = append(list, n)
		}
	}
	return list, nil
}

// read reads the figures.
func (f *sizeFlags) read() (_ *sizing.Figures, err error) {
	if f.figures == "" {
		return sizing.Reference()
	}
	file, err := os.Open(f.figures)
	if err != nil {
		return nil, fmt.Errorf("--figures: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	figures, err := sizing.Read(file)
	if err != nil {
		return nil, fmt.Errorf("--figures %s: %w; deploy/grid.sh makes such a file", f.figures, err)
	}
	return figures, nil
}

// sized is the output of --json for one need.
type sized struct {
	Keywords uint64  `json:"keywords"`
	QPS      float64 `json:"qps"`
	P99      float64 `json:"p99_us"`
	Memory   uint64  `json:"memory_bytes"`
	Cores    int     `json:"cores"`
	*sizing.Plan
	// None says why no grid meets the need.
	None    string `json:"none,omitempty"`
	Figures struct {
		Machine string `json:"machine"`
		Commit  string `json:"commit"`
		Date    string `json:"date"`
	} `json:"figures"`
}

// writeJSON writes an object, or an array of objects if there are several needs.
func (f *sizeFlags) writeJSON(out io.Writer, figures *sizing.Figures, needs []sizing.Need, plans []*sizing.Plan, faults []error) error {
	list := make([]sized, len(needs))
	for i, n := range needs {
		v := &list[i]
		v.Keywords, v.QPS, v.P99, v.Memory, v.Cores = n.Keywords, n.QPS, float64(n.P99)/float64(time.Microsecond), n.Memory, n.Cores
		v.Plan = plans[i]
		v.Figures.Machine, v.Figures.Commit, v.Figures.Date = figures.Machine, figures.Commit, figures.Date
		if faults[i] != nil {
			v.None = faults[i].Error()
		}
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	if len(list) == 1 {
		return e.Encode(list[0])
	}
	return e.Encode(list)
}
