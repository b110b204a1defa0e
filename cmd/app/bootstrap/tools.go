package bootstrap

// builders lists the tools of this repository: one line each.
func builders() []Builder {
	return []Builder{
		mysqlTools,
		prometheusTools,
		logTools,
	}
}
