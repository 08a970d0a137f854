package admin

import (
	"math"

	"adshard/auction"
	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// The bodies and queries of control calls implement api.Params: each reads its values strictly,
// within the bounds of openapi.yaml.

const (
	maxName       = 256
	maxStrategy   = 64
	maxOptions    = 64
	maxOption     = 256
	defaultSlices = 100
	maxSlices     = 1_000_000
	maxReplicas   = 16
)

type budgetBody struct{ api.Budget }

// Set implements api.Params.
func (b *budgetBody) Set(name string, v api.Value) (field int, err error) {
	switch name {
	case "exhausted":
		b.Exhausted, err = v.Boolean(name)
		return 0, err
	case "share_ppm":
		n, err := v.Integer(name, 0, auction.Whole)
		b.SharePpm = &n
		return 1, err
	}
	return 0, api.Unknown(name, "exhausted", "share_ppm")
}

// mark returns the mark that the body asks for.
func (b *budgetBody) mark() backend.BudgetMark {
	m := backend.BudgetMark{Exhausted: b.Exhausted}
	if b.SharePpm != nil {
		m.Share = backend.To(uint32(*b.SharePpm))
	}
	return m
}

// Required implements api.Params.
func (b *budgetBody) Required(given uint64) string { return missing(given, "exhausted") }

type addBody struct{ api.AddSlave }

// Set implements api.Params.
func (b *addBody) Set(name string, v api.Value) (field int, err error) {
	if name != "address" {
		return 0, api.Unknown(name, "address")
	}
	b.Address, err = filled(v, name, maxName)
	return 0, err
}

// Required implements api.Params.
func (b *addBody) Required(given uint64) string { return missing(given, "address") }

type moveBody struct{ api.MoveRequest }

// Set implements api.Params.
func (b *moveBody) Set(name string, v api.Value) (field int, err error) {
	switch name {
	case "slice":
		n, err := v.Integer(name, 1, math.MaxInt)
		b.Slice = uint64(n)
		return 0, err
	case "slave":
		b.Slave, err = filled(v, name, maxName)
		return 1, err
	}
	return 0, api.Unknown(name, "slice", "slave")
}

// Required implements api.Params.
func (b *moveBody) Required(given uint64) string { return missing(given, "slice", "slave") }

type replicasBody struct{ api.Replicas }

// Set implements api.Params.
func (b *replicasBody) Set(name string, v api.Value) (field int, err error) {
	if name != "replicas" {
		return 0, api.Unknown(name, "replicas")
	}
	b.Replicas.Replicas, err = v.Integer(name, 1, maxReplicas)
	return 0, err
}

// Required implements api.Params.
func (b *replicasBody) Required(given uint64) string { return missing(given, "replicas") }

type strategyBody struct{ api.StrategyRequest }

// Set implements api.Params.
func (b *strategyBody) Set(name string, v api.Value) (field int, err error) {
	switch name {
	case "name":
		b.Name, err = filled(v, name, maxStrategy)
		return 0, err
	case "options":
		if v.Kind != api.Object {
			return 1, fault.Field("admin", name, `options must be an object of strings, as {"budget":"0.09"}`)
		}
		options := optionsBody{}
		b.Options = options
		return 1, api.FromBody(options, []byte(v.Raw))
	}
	return 0, api.Unknown(name, "name", "options")
}

// Required implements api.Params.
func (b *strategyBody) Required(given uint64) string { return missing(given, "name") }

// optionsBody holds options by name.
type optionsBody map[string]string

// Set implements api.Params.
func (o optionsBody) Set(name string, v api.Value) (field int, err error) {
	if len(o) == maxOptions {
		return 0, fault.Field("admin", "options", "there are more than %d options", maxOptions)
	}
	field = len(o)
	o[name], err = v.Text(name, maxOption)
	return field, err
}

// Required implements api.Params.
func (optionsBody) Required(uint64) string { return "" }

type slicesQuery struct{ api.BalanceSlicesParams }

// Set implements api.Params.
func (q *slicesQuery) Set(name string, v api.Value) (field int, err error) {
	switch name {
	case "slave":
		q.Slave, err = v.Text(name, maxName)
		return 0, err
	case "limit":
		q.Limit, err = v.Integer(name, 1, maxSlices)
		return 1, err
	}
	return 0, api.Unknown(name, "slave", "limit")
}

// Required implements api.Params.
func (*slicesQuery) Required(uint64) string { return "" }

// filled reads a string and returns an error if it is empty.
func filled(v api.Value, name string, most int) (string, error) {
	text, err := v.Text(name, most)
	if err == nil && text == "" {
		err = fault.Field("admin", name, "%s must not be empty", name)
	}
	return text, err
}

// missing returns the first of the names, in the order of their numbers, whose value is not given.
func missing(given uint64, names ...string) string {
	for i, name := range names {
		if given&(1<<i) == 0 {
			return name
		}
	}
	return ""
}
