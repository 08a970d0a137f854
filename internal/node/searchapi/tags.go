package searchapi

import (
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/wire"
	"adshard/search"
)

// The headers that decide which searches are refused first, spelled as in net/http.
const (
	priorityHeader = "X-Priority"
	tenantHeader   = "X-Tenant"
)

// Tags reads the values of the headers X-Priority (normal or low) and X-Tenant of a request, or of
// metadata with these names. Errors: fault.Invalid.
func Tags(priority, tenant []string) (t search.Tags, err error) {
	if len(priority) > 1 {
		return t, api.Repeated(priorityHeader)
	}
	if len(tenant) > 1 {
		return t, api.Repeated(tenantHeader)
	}
	if len(priority) == 1 {
		switch priority[0] {
		case "normal":
		case "low":
			t.Low = true
		default:
			return t, fault.Field(op, priorityHeader, "%s is normal or low", priorityHeader)
		}
	}
	if len(tenant) == 1 {
		t.Tenant = tenant[0]
	}
	if wire.CheckTags(&t) != nil {
		return t, fault.Field(op, tenantHeader, "%s is UTF-8 of at most %d bytes", tenantHeader, wire.MaxTenant)
	}
	return t, nil
}
