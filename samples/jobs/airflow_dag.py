"""A job file as a task of Apache Airflow: the exit status decides, the report is in the log."""

from datetime import datetime, timedelta

from airflow.models.dag import DAG
from airflow.operators.bash import BashOperator

with DAG(
    "geoferry_nightly",
    schedule="15 2 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
):
    BashOperator(
        task_id="run",
        # 5: done, with rejected features, which the report lists.
        bash_command="geoferry run /srv/geoferry/nightly.yaml --json || [ $? -eq 5 ]",
        retries=2,
        retry_delay=timedelta(minutes=10),
    )
