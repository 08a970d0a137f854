package config

import (
	"slices"
	"strings"
)

// environment is the prefix of variables that set flags.
const environment = "ADSHARD_"

// Variable returns the variable of the environment that gives a flag: ADSHARD_TLS_CERT for tls-cert.
func Variable(flag string) string {
	return environment + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// WithoutVariables returns an environment without the variables that give flags: for a child
// process, whose configuration file has every setting, also those that differ between
// children.
func WithoutVariables(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, environment) })
}
