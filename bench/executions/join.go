package executions

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"

	"adshard/fault"
)

// Join reads reports that WriteFile wrote and combines them. Errors: fault.NotFound;
// fault.Invalid for a file of another format, for reports with different keywords,
// numbers of executions or seeds, and for a layout and setup that occur twice.
func Join(names ...string) (*Report, error) {
	var all *Report
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fault.Newf(fault.NotFound, "executions: join", "%s is not there: name files that --json wrote", name)
		}
		if err != nil {
			return nil, fault.New(fault.Internal, "executions: join", err)
		}
		one := new(Report)
		if err := json.Unmarshal(raw, one); err != nil || len(one.Outcomes) == 0 {
			return nil, fault.Newf(fault.Invalid, "executions: join", "%s holds no result of adbench executions: name files that --json wrote", name)
		}
		if all == nil {
			all = one
			continue
		}
		if err := all.add(one); err != nil {
			return nil, fault.Newf(fault.Invalid, "executions: join", "%s: %w", name, err)
		}
	}
	return all, nil
}

func (r *Report) add(other *Report) error {
	if r.Keywords != other.Keywords || r.Times != other.Times || r.Seed != other.Seed {
		return fmt.Errorf("it is of %d keywords, %d executions and seed %d, others are of %d, %d and %d: join what differs in setups and layouts only",
			other.Keywords, other.Times, other.Seed, r.Keywords, r.Times, r.Seed)
	}
	for i := range other.Outcomes {
		if o := &other.Outcomes[i]; r.find(o.Setup, o.Layout) != nil {
			return fmt.Errorf("it has %s on %s as another one has: name each once", o.Layout, o.Setup)
		}
	}
	r.Runs, r.Outcomes, r.Limit = append(r.Runs, other.Runs...), append(r.Outcomes, other.Outcomes...), max(r.Limit, other.Limit)
	if r.Absent == nil {
		r.Absent = make(map[string]string)
	}
	maps.Copy(r.Absent, other.Absent)
	return nil
}
