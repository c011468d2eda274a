"use strict";

// Draw every chart from the data that stands beside it.
const SETTINGS = {
  displaylogo: false,
  responsive: true,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
};

for (const data of document.querySelectorAll("script[data-chart]")) {
  const figure = JSON.parse(data.textContent);
  Plotly.newPlot(data.dataset.chart, figure.data, figure.layout, SETTINGS);
}
