"""A job file as a task of Apache Airflow 3: the exit status decides, the report is in the log.

Airflow 2 has DAG in airflow.models.dag, and BashOperator in airflow.operators.bash.
"""

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

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
