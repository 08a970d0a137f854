module adshard

go 1.26.0
